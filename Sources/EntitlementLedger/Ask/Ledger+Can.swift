public import Entitlements
import EventLog
import LMDB
import Synchronization

extension Ledger {
    /// Whether a customer has a feature at an instant, by everything that is known; made for now.
    ///
    /// Synchronous, on the caller's thread. A customer who was asked for before costs a look-up in
    /// the access table, unless something was recorded about them since.
    public func can(
        _ customer: String,
        _ feature: String,
        environment: StoreEnvironment,
        at now: Instant
    ) throws -> Bool {
        if let table = views.access, let stream = try stream(of: customer, environment, table) {
            let rules = try accessRules()
            if !rules.hasExperiments {
                let slot =
                    try validSlot(of: stream, table, rules, now)
                    ?? keepSlot(of: stream, customer, table, now)
                if let slot,
                    let isAllowed = rules.allows(
                        feature,
                        at: now,
                        slot,
                        product: { table.product($0) }
                    )
                {
                    return isAllowed
                }
            }
        }
        let question = CustomerQuestion(
            customer: customer,
            environment: environment,
            point: BitemporalPoint(at: now, knownAt: .everything)
        )
        return try access(to: feature, question)?.isAllowed ?? false
    }

    /// The stream of a customer's name; nil: nothing was recorded about them.
    private func stream(
        of customer: String,
        _ environment: StoreEnvironment,
        _ table: AccessTable
    ) throws -> UInt64? {
        if let known = table.stream(of: customer, environment) { return known }
        let name = StreamName(
            environment: environment.rawValue,
            subject: Subject.customer(customer).description
        )
        // A reservation may come to nothing: only a stream with events is kept.
        guard let stream = try vault.stream(of: name), try views.lastSequence(of: stream) != nil
        else { return nil }
        try remember { try table.keep(stream, of: customer, environment) }
        // Erased while it was looked up: whoever erases forgets the names after closing the streams.
        if vault.closedStreams.contains(stream) {
            table.forgetNames()
            return nil
        }
        return stream
    }

    /// The table only remembers: a disk without room for it takes no answer away (Z17).
    private func remember(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch is MappedTableError {}
    }

    /// The rules of the catalogs as they stand; made anew when one was published.
    private func accessRules() throws -> AccessRules {
        if let known = rules.withLock({ $0 }) {
            let size = known.size
            if views.moves.isCertainlyUnmoved(StreamNumber.catalog, since: size) { return known }
            let end = views.end
            if try views.isUnmoved(StreamNumber.catalog, since: size) {
                known.renew(at: end)
                return known
            }
        }
        let size = try log.end().size
        let made = AccessRules(try catalogHistory(size: size), size: size)
        rules.withLock { $0 = made }
        return made
    }

    /// A kept slot that still holds: nothing it was folded from has moved.
    private func validSlot(
        of stream: UInt64,
        _ table: AccessTable,
        _ rules: AccessRules,
        _ now: Instant
    ) throws -> AccessSlot? {
        guard var slot = table.slot(of: stream), slot.from <= now,
            rules.lastCatalog.map({ $0 < slot.size }) ?? true
        else { return nil }
        if areCertainlyUnmoved(slot) { return slot }
        // Somebody else's event may have looked like one of theirs: the tables know.
        let end = views.end
        for index in 0..<slot.streamCount {
            guard try views.isUnmoved(slot.streams[index], since: slot.size) else { return nil }
        }
        slot.size = end
        try remember { try table.keep(slot, of: stream) }
        return slot
    }

    private func areCertainlyUnmoved(_ slot: AccessSlot) -> Bool {
        for index in 0..<slot.streamCount {
            guard views.moves.isCertainlyUnmoved(slot.streams[index], since: slot.size) else {
                return false
            }
        }
        return true
    }

    /// Folds a customer and keeps the slot; nil where it does not fit one, or needs grants or
    /// trials, which the fold answers.
    private func keepSlot(
        of stream: UInt64,
        _ customer: String,
        _ table: AccessTable,
        _ now: Instant
    ) throws -> AccessSlot? {
        let size = try log.end().size
        let (timeline, streams) = try loadTimeline(
            ofStream: stream,
            asked: customer,
            size: size
        )
        guard
            let slot = try AccessSlot(
                timeline,
                streams: streams,
                size: size,
                from: now,
                code: table.code
            )
        else { return nil }
        try remember { try table.keep(slot, of: stream) }
        return slot
    }
}

extension AccessSlot {
    /// What the table keeps of a customer; nil where it does not fit, or needs grants or trials,
    /// which the fold answers.
    ///
    /// `code`: of a product.
    init?(
        _ timeline: CustomerTimeline,
        streams: [UInt64],
        size: UInt64,
        from now: Instant,
        code: (ProductKey) throws -> UInt32
    ) throws {
        self.init(size: size, from: now)
        guard streams.count <= Self.streamCapacity else { return nil }
        for stream in streams {
            self.streams[streamCount] = stream
            streamCount += 1
        }
        for stretch in timeline.stretches
        where stretch.interval.end.map({ $0 > now }) ?? true {
            guard case .product(let right) = stretch.right, stretchCount < Self.stretchCapacity
            else { return nil }
            stretches[stretchCount] = Stretch(
                product: try code(ProductKey(store: right.store, productID: right.productID)),
                isKept: right.keptSince != nil,
                start: stretch.interval.start,
                end: stretch.interval.end ?? Self.never,
                keptSince: right.keptSince ?? stretch.interval.start
            )
            stretchCount += 1
        }
        guard isEncodable else { return nil }
    }
}
