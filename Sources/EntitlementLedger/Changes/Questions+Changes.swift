import Encodings
package import Entitlements
import EventLog

/// What an event or time makes of what customers may use: each answer follows from a prefix of the log and
/// an instant, so that what was told once can be told again (row Z19).
extension Questions {
    /// An event by what the log says of it in clear.
    package struct EventMark: Sendable {
        /// What kind of event.
        package var kind: EventKind
        /// Its environment.
        package var environment: StoreEnvironment
        /// When it was recorded (T3).
        package var recordedAt: Instant
        /// The number of its subject's stream.
        package var stream: UInt64
    }

    /// What the log says of an event in clear; nil: it is one of a later version's, or a gap.
    package func mark(at sequence: UInt64) throws -> EventMark? {
        var mark: EventMark?
        try log.readRecords([sequence]) { _, record in
            guard !LostRecord.isOne(record) else { return }
            let header = try RecordHeader(checking: record)
            guard let kind = EventKind(rawValue: header.kind),
                let environment = StoreEnvironment(rawValue: header.environment)
            else { return }
            mark = EventMark(
                kind: kind,
                environment: environment,
                recordedAt: Instant(milliseconds: header.recordedAt),
                stream: header.stream
            )
        }
        return mark
    }

    /// What an event made of each customer whom it may concern, at an instant; those whose name is erased
    /// are passed over.
    ///
    /// Of a catalog it is nothing: it concerns everybody (`accessOutlooks(in:at:upTo:catalog:_:)`).
    ///
    /// Cost: the facts about the event's subject, and two folds of each customer.
    package func accessOutlooks(
        after sequence: UInt64,
        _ mark: EventMark,
        at instant: Instant
    ) throws -> [AccessOutlook] {
        guard mark.kind.isFolded, mark.kind != .catalogPublished else { return [] }
        let size = sequence + 1  // Fits: the log has the event.
        var outlooks: [AccessOutlook] = []
        for customer in try customers(concernedBy: mark, size: size) {
            let loaded = try loadFacts(ofStream: customer, size: size)
            var earlier = loaded
            earlier.facts.removeAll { $0.sequence >= sequence }
            let timeline = loaded.timeline
            outlooks.append(
                outlook(
                    of: timeline,
                    mark.environment,
                    before: AccessSummary(earlier.timeline.state(at: instant)),
                    at: instant,
                    cause: sequence
                )
            )
        }
        return outlooks
    }

    /// What time made of a customer at an instant, as the first events of the log tell.
    ///
    /// - Returns: nil for a name that links lead on from, and one that is erased.
    package func accessOutlook(
        of customer: UInt64,
        in environment: StoreEnvironment,
        at instant: Instant,
        size: UInt64
    ) throws -> AccessOutlook? {
        guard try vault.customer(of: customer) != nil else { return nil }
        let timeline = try loadTimeline(ofStream: customer, size: size).timeline
        guard timeline.customer == customer else { return nil }
        return outlook(of: timeline, environment, before: nil, at: instant, cause: nil)
    }

    /// What became of everybody at an instant, in no order.
    ///
    /// Cost: as `foldCustomers`, and two states of each.
    ///
    /// - Parameters:
    ///   - environment: the environment.
    ///   - instant: the instant.
    ///   - size: how many events are known.
    ///   - sequence: the event of the catalog that may have changed something; nil: the one that is in force
    ///     from the instant on.
    ///   - take: told of some at once, on several threads.
    /// - Throws: what `foldCustomers` throws, and what `take` does.
    package func accessOutlooks(
        in environment: StoreEnvironment,
        at instant: Instant,
        upTo size: UInt64,
        catalog sequence: UInt64?,
        _ take: @escaping @Sendable ([AccessOutlook]) throws -> Void
    ) throws {
        let earlier = try sequence.map { try catalogHistory(size: $0) }
        let rests = try foldCustomers(
            upTo: size,
            environment: environment,
            into: [AccessOutlook]()
        ) { found, timeline in
            var before: AccessSummary?
            if let earlier {
                let positions = try positions(of: timeline.customer, in: earlier)
                let other = timeline.under(earlier) { positions[$0] ?? 0 }
                before = AccessSummary(other.state(at: instant))
            }
            var outlook = outlook(
                of: timeline,
                environment,
                before: before,
                at: instant,
                cause: sequence
            )
            outlook.change?.isByCatalog = true
            // What is the customer's own was told as time's.
            if sequence == nil, timeline.changes(at: instant) { outlook.change = nil }
            guard outlook.change != nil || outlook.next != nil else { return }
            found.append(outlook)
            if found.count == Self.outlookBatch {
                try take(found)
                found.removeAll(keepingCapacity: true)
            }
        }
        for rest in rests where !rest.isEmpty { try take(rest) }
    }

    /// Outlooks that are handed on at once.
    private static let outlookBatch = 1000

    /// The name behind a customer's number; nil: it is erased, or no customer's.
    package func customerName(ofStream stream: UInt64) throws -> CustomerID? {
        try vault.customer(of: stream)
    }

    /// The customers whose answers an event about a subject may change, by the names that links lead to.
    ///
    /// The subject's name may be erased by now: what it took from others is theirs to be told.
    private func customers(concernedBy mark: EventMark, size: UInt64) throws -> [UInt64] {
        if views.end < size { try views.catchUp() }
        guard let isCustomer = try isCustomer(mark.stream, mark.kind) else { return [] }
        var loader = FactLoader(log: log, vault: vault, views: views, size: size)
        let facts =
            try isCustomer
            ? loader.facts(ofCustomer: mark.stream) : loader.facts(ofPurchase: mark.stream)
        let links = Links(facts, of: .customerLinked)
        let customers = try Set(loader.lastSequences.keys.map { links.canonical($0) })
            .filter { try vault.customer(of: $0) != nil }
        return customers.sorted()
    }

    /// `before`: what could be used before; nil: what could just before the instant.
    private func outlook(
        of timeline: CustomerTimeline,
        _ environment: StoreEnvironment,
        before: AccessSummary?,
        at instant: Instant,
        cause: UInt64?
    ) -> AccessOutlook {
        let state = timeline.state(at: instant)
        let after = AccessSummary(state)
        let before =
            before ?? AccessSummary(timeline.state(at: instant.advanced(byMilliseconds: -1)))
        var outlook = AccessOutlook(
            customer: timeline.customer,
            environment: environment,
            next: timeline.nextChange(after: instant)
        )
        if before != after {
            outlook.change = ChangedAccess(
                at: instant,
                before: before,
                after: after,
                cause: cause,
                validUntil: state.validUntil
            )
        }
        return outlook
    }
}
