import Encodings
public import Entitlements
public import LedgerAPI

/// A question about what differs for a customer between two points.
public struct DifferenceQuestion: Sendable, Hashable {
    /// Any of the customer's names.
    public var customer: CustomerID
    /// The environment that is asked about.
    public var environment: StoreEnvironment
    /// T and R of the state that is compared with.
    public var from: BitemporalPoint
    /// T and R of the state that is compared.
    public var to: BitemporalPoint

    /// Makes a question.
    public init(
        customer: CustomerID,
        environment: StoreEnvironment,
        from: BitemporalPoint,
        to: BitemporalPoint
    ) {
        self.customer = customer
        self.environment = environment
        self.from = from
        self.to = to
    }
}

extension Questions {
    /// What changed between two effective instants, or became known between two recorded ones.
    ///
    /// `events` are the customer's that became known between the two prefixes, and those that took
    /// effect between the two instants; `catalogs` likewise.
    /// - Throws: `LedgerFault` for a prefix that the log does not have.
    public func difference(
        _ question: DifferenceQuestion
    ) throws -> Written<DifferenceAnswer> {
        let ends = [question.from, question.to]
        let sizes = try ends.map { try prefix(knownAt: $0.knownAt) }
        let states = try zip(ends, sizes).map { point, size in
            let asked = CustomerQuestion(
                customer: question.customer,
                environment: question.environment,
                point: point
            )
            return try StateContent(state(asked, size: size), names: names)
        }
        let between = Between(ends, sizes)
        return Written(
            DifferenceAnswer(
                customer: question.customer.text,
                environment: question.environment,
                from: ComparedPoint(question.from, size: sizes[0]),
                to: ComparedPoint(question.to, size: sizes[1]),
                difference: StateDifference(from: states[0], to: states[1]),
                catalogs: try catalogs(between),
                events: try events(question, between)
            )
        )
    }

    /// What lies between two points.
    private struct Between {
        /// What became known.
        var sequences: Range<UInt64>
        /// What took effect: later than the earlier instant, up to the later one.
        var times: Interval

        init(_ ends: [BitemporalPoint], _ sizes: [UInt64]) {
            sequences = min(sizes[0], sizes[1])..<max(sizes[0], sizes[1])
            times = Interval(
                start: min(ends[0].at, ends[1].at).advanced(byMilliseconds: 1),
                end: max(ends[0].at, ends[1].at).advanced(byMilliseconds: 1)
            )
        }
    }

    private func events(
        _ question: DifferenceQuestion,
        _ between: Between
    ) throws -> [ListedEvent] {
        var events: [ListedEvent] = []
        func list(_ event: OpenedEvent) -> Bool {
            // Who looked in between is nothing of what differs, as in a timeline.
            if event.kind != .accessLogged { events.append(event.listed) }
            return true
        }
        var filter = EventFilter(sequences: 0..<between.sequences.lowerBound)
        filter.customer = question.customer
        filter.environment = question.environment
        filter.times = between.times
        // Whose it is a later event may tell, such as the claim of a purchase.
        filter.knownTo = between.sequences.upperBound
        try openedEvents(filter, list)
        filter.sequences = between.sequences
        filter.times = nil
        try openedEvents(filter, list)
        return events
    }

    private func catalogs(_ between: Between) throws -> [PublishedCatalog] {
        try catalogHistory(size: between.sequences.upperBound).publications
            .filter { between.sequences.contains($0.sequence) || between.times.contains($0.time) }
            .sorted { $0.sequence < $1.sequence }
            .map { PublishedCatalog(sequence: $0.sequence, time: $0.time) }
    }
}

extension ComparedPoint {
    /// A point as an answer echoes it.
    fileprivate init(_ point: BitemporalPoint, size: UInt64) {
        var known: Instant?
        if case .instant(let instant) = point.knownAt { known = instant }
        self.init(at: point.at, known: known, sequence: size)
    }
}
