public import Entitlements
import EventLog
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
        if let table = views.access {
            let rules = try accessRules()
            if !rules.hasExperiments {
                let name = table.name(customer, environment)
                if let slot = table.slot(of: name), slot.from <= now,
                    rules.lastCatalog.map({ $0 < slot.size }) ?? true,
                    try isUnmoved(slot, of: name, table)
                {
                    return rules.allows(feature, at: now, slot) { table.product($0) }
                }
                if let slot = try keepSlot(of: name, customer, environment, table, now) {
                    return rules.allows(feature, at: now, slot) { table.product($0) }
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

    /// Whether a slot still holds: nothing it was folded from has moved.
    private func isUnmoved(
        _ slot: AccessSlot,
        of name: AccessName,
        _ table: AccessTable
    ) throws -> Bool {
        if views.moves.isCertainlyUnmoved(slot) { return true }
        // Somebody else's event may have looked like one of theirs: the tables know.
        let end = views.end
        for index in 0..<slot.streamCount {
            guard try views.isUnmoved(slot.streams[index], since: slot.size) else { return false }
        }
        var renewed = slot
        renewed.size = end
        table.keep(renewed, of: name)
        return true
    }

    /// Folds a customer and keeps the slot; nil where nothing was recorded about them, or what was
    /// does not fit one or needs grants or trials, which the fold answers.
    private func keepSlot(
        of name: AccessName,
        _ customer: String,
        _ environment: StoreEnvironment,
        _ table: AccessTable,
        _ now: Instant
    ) throws -> AccessSlot? {
        // Before the stream: whose erasure the views cover has no name any more when it is looked
        // up, and one that comes later moves the stream.
        let size = views.end
        let recorded = StreamName(.customer(customer), in: environment)
        // A reservation may come to nothing: only a stream with events is kept.
        guard let stream = try vault.stream(of: recorded),
            try views.lastSequence(of: stream) != nil
        else { return nil }
        let (timeline, streams) = try loadTimeline(
            ofStream: stream,
            asked: customer,
            size: size
        )
        guard
            let slot = AccessSlot(
                timeline,
                streams: streams,
                size: size,
                from: now,
                code: table.code(of:)
            )
        else { return nil }
        table.keep(slot, of: name)
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
        code: (ProductKey) -> UInt32
    ) {
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
                product: code(ProductKey(store: right.store, productID: right.productID)),
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
