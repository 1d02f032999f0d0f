public import Encodings
import Entitlements
import EventLog

extension Ledger {
    /// All stretches of a customer and the events behind them, in both times: the `timeline` shape.
    ///
    /// `TimelineChart` draws it.
    public func timelineAnswer(_ question: CustomerQuestion) throws -> JSONValue {
        try timelineAnswer(question, size: prefix(knownAt: question.point.knownAt))
    }

    /// `names`: of purchases and grants; nil: as they were recorded.
    func timelineAnswer(
        _ question: CustomerQuestion,
        size: UInt64,
        names: MaskedNames? = nil
    ) throws -> JSONValue {
        let (timeline, view) = try timeline(of: question, size: size)
        var filter = EventFilter(sequences: 0..<size)
        filter.customer = question.customer
        filter.environment = question.environment
        filter.view = view
        var events: [JSONValue] = []
        try self.events(filter) { _, event in
            // Who looked at it is no part of what it shows: looking would change it.
            if event["type"]?.string != EventKind.accessLogged.name { events.append(event) }
            return true
        }
        let names = names ?? MaskedNames(ledger: self, redaction: .none)
        return try answer(
            .timeline,
            question,
            size: size,
            question.members(size: size) + [
                JSONMember("tiers", .array(timeline.tierStretches.map(\.json))),
                JSONMember(
                    "features",
                    .object(
                        timeline.featureStretches.map {
                            JSONMember($0.feature, .array($0.stretches.map(\.json)))
                        }
                    )
                ),
                JSONMember(
                    "stretches",
                    .array(try timeline.stretches.map { try $0.json(names) })
                ),
                JSONMember(
                    "statuses",
                    .object(try timeline.statusMembers(names, view))
                ),
                JSONMember("events", .array(events)),
                JSONMember("late", .array(events.compactMap { LateFact($0)?.json })),
            ]
        )
    }
}

extension AccessStretch {
    fileprivate func json(_ names: some AnswerNames) throws -> JSONValue {
        var productID: String?
        if case .product(let right) = self.right { productID = right.productID }
        return .members([
            "source": .string(try source.name(names)), "productId": .optional(productID),
            "from": .instant(interval.start), "to": .instant(interval.end),
        ])
    }
}

extension CustomerTimeline {
    /// The statuses of each purchase that is owned at some time, by its name.
    fileprivate func statusMembers(
        _ names: some AnswerNames,
        _ view: CustomerView
    ) throws -> [JSONMember] {
        try purchases.map { purchase in
            let purchase = purchase.timeline
            return JSONMember(
                try names.purchaseName(purchase.number),
                .array(
                    view.shown(purchase.statusStretches, of: purchase.number).map(\.json)
                )
            )
        }
        .sorted { $0.name.precedes($1.name) }
    }
}

extension NamedStretch {
    fileprivate var json: JSONValue {
        .members([
            "value": .string(value), "from": .instant(interval.start), "to": .instant(interval.end),
        ])
    }
}
