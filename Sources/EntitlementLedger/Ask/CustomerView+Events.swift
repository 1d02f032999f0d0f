import Entitlements
import EventLog

extension CustomerView {
    /// Whether an event is shown; catalogs are everybody's.
    func shows(_ header: RecordHeader) -> Bool {
        header.stream == StreamNumber.catalog
            || shows(Instant(milliseconds: header.time), about: header.stream)
    }

    /// An event without what is not the asker's; nil: nothing of it is.
    ///
    /// `record`: the event's.
    func shown(_ event: OpenedEvent, _ record: Span<UInt8>) throws -> OpenedEvent? {
        guard !isWhole else { return event }
        guard shows(event.header) else { return nil }
        var event = event
        for field in Field.allCases where hides(field) { event.leaveOut(field) }
        // A name that leads to another customer is that customer's (C1, C2).
        if event.kind == .customerLinked || event.kind.givesPeriod,
            try !event.header.otherStreams(record).allSatisfy(isCustomer)
        {
            event.leaveOut(event.kind.givesPeriod ? .account : .alias)
        }
        return event
    }
}

extension OpenedEvent {
    /// Shows it without a field, as if it had none.
    mutating func leaveOut(_ field: Field) {
        values[field] = nil
        erased.remove(field)
    }
}

extension Questions {
    /// The timeline that a question is about, and what may be shown of it.
    func timeline(
        of question: CustomerQuestion,
        size: UInt64
    ) throws -> (timeline: CustomerTimeline, view: CustomerView) {
        let loaded = try loadFacts(
            of: question.customer,
            environment: question.environment,
            size: size
        )
        let timeline = loaded.timeline
        return (timeline, CustomerView(question.visibility, of: timeline, loaded.facts))
    }
}
