import Encodings
import Entitlements
import EventLog
public import LedgerAPI

extension Questions {
    /// All stretches of a customer and the events behind them, in both times.
    public func timelineAnswer(
        _ question: CustomerQuestion
    ) throws -> Written<TimelineAnswer> {
        try timelineAnswer(question, size: prefix(knownAt: question.point.knownAt))
    }

    func timelineAnswer(
        _ question: CustomerQuestion,
        size: UInt64,
        rules: UInt16 = RulesVersion.current
    ) throws -> Written<TimelineAnswer> {
        let names = RecordedNames(self)
        let answer = try timelineContent(question, size: size, rules: rules, names: names)
        return try written(.timeline, question, size: size, rules: rules, answer)
    }

    /// The answer before it has a token.
    func timelineContent(
        _ question: CustomerQuestion,
        size: UInt64,
        rules: UInt16 = RulesVersion.current,
        names: some AnswerNames
    ) throws -> TimelineAnswer {
        let (timeline, view) = try timeline(of: question, size: size)
        var filter = EventFilter(sequences: 0..<size)
        filter.customer = question.customer
        filter.environment = question.environment
        filter.view = view
        var events: [ListedEvent] = []
        try openedEvents(filter) { event in
            // Who looked at it is no part of what it shows: looking would change it.
            if event.kind != .accessLogged { events.append(event.listed) }
            return true
        }
        return try TimelineAnswer(
            question.echo(size: size),
            timeline,
            statuses: timeline.purchases.map { purchase in
                let purchase = purchase.timeline
                return (
                    purchase.number, view.shown(purchase.statusStretches, of: purchase.number)
                )
            },
            events: events,
            rules: rules,
            names: names
        )
    }
}
