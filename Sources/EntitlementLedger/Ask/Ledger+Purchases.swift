public import Encodings
import Entitlements
import EventLog

extension Ledger {
    /// What a customer owns at a point with its history: the `purchases` shape (rows 3.2, 7.1, 7.2).
    ///
    /// Each purchase is as in `show`, with `ownedSince` (null: since ever, C1) and `periods`: those
    /// that have started, in P3's order.
    ///
    /// Cost: as `show`, and some record reads for each period.
    public func purchases(of question: CustomerQuestion) throws -> JSONValue {
        try purchases(of: question, size: prefix(knownAt: question.point.knownAt))
    }

    func purchases(of question: CustomerQuestion, size: UInt64) throws -> JSONValue {
        let at = question.point.at
        let (timeline, view) = try timeline(of: question, size: size)
        let shown = view.shown(timeline.state(at: at)).purchases
        let names = RecordedNames(ledger: self)
        let purchases = try zip(timeline.owned(at: at), shown).map { owned, state in
            let name = try names.purchaseName(owned.timeline.number)
            let periods = try owned.timeline.periods.indices
                .filter { owned.timeline.periods[$0].start <= at }
                .compactMap { try history(ofPeriod: $0, of: owned.timeline, at: at, to: view) }
            return (
                name,
                JSONValue.object(
                    state.members(name: name) + [
                        JSONMember("ownedSince", .instant(owned.start(at: at))),
                        JSONMember("periods", .array(periods)),
                    ]
                )
            )
        }
        return try answer(
            .purchases,
            question,
            size: size,
            question.members(size: size) + [
                JSONMember("purchases", .array(purchases.sorted { $0.0.precedes($1.0) }.map(\.1)))
            ]
        )
    }

    /// What one transaction gave, as it stands at an instant; nil where a view does not show the
    /// event that says so.
    private func history(
        ofPeriod index: Int,
        of purchase: PurchaseTimeline,
        at instant: Instant,
        to view: CustomerView
    ) throws -> JSONValue? {
        let period = purchase.periods[index]
        guard let statement = try opened(period.statement.sequence, to: view) else { return nil }
        let verdict = try period.verdict(at: instant).flatMap { try opened($0.sequence, to: view) }
        let revocation = period.revocation(at: instant)
        let taken = try revocation.flatMap { try opened($0.statement.sequence, to: view) }
        func cut(_ end: Instant?) -> Instant? {
            view.cut(end, of: purchase.number, at: instant)
        }
        return .object(
            [
                JSONMember("transactionId", statement[.transactionID]),
                JSONMember("productId", .string(period.productID)),
                JSONMember("productKind", .string(period.kind.name)),
                JSONMember(
                    "status",
                    .string(purchase.status(ofPeriod: index, at: instant).rawValue)
                ),
                JSONMember("startsAt", .instant(period.start)),
                JSONMember("expiresAt", .instant(cut(period.end))),
                JSONMember("graceUntil", .instant(cut(period.grace?.end))),
            ]
                + [.ownership, .offer, .priceMicros, .currencyCode, .quantity, .storefront].map {
                    (field: Field) in JSONMember(field.name, statement[field])
                } + [
                    JSONMember("isVerified", .bool(period.isVerified(at: instant))),
                    JSONMember("verification", verdict?.verification ?? .null),
                    JSONMember(
                        "revocation",
                        taken?.revocation(until: cut(revocation?.interval.end)) ?? .null
                    ),
                    JSONMember("source", .optional(statement.source)),
                    JSONMember(
                        "recordedAt",
                        .instant(Instant(milliseconds: statement.header.recordedAt))
                    ),
                ]
        )
    }

    /// nil: the view does not show it.
    private func opened(_ sequence: UInt64, to view: CustomerView) throws -> OpenedEvent? {
        let opener = EventOpener(vault: vault, log: log)
        var opened: OpenedEvent??
        try log.readRecords([sequence]) { opened = try view.shown(opener.open($1), $1) }
        guard let opened else {
            throw LogStorageFault(.damaged, "record \(sequence) is missing")
        }
        return opened
    }
}

extension CustomerTimeline.OwnedPurchase {
    /// Since when the customer owns it, of an instant at which they do; nil: since ever.
    fileprivate func start(at instant: Instant) -> Instant? {
        let start = ownership.first { $0.contains(instant) }?.start
        return start == Instant(milliseconds: .min) ? nil : start
    }
}

extension OpenedEvent {
    /// A field's value as JSON; null where it is absent or erased.
    fileprivate subscript(field: Field) -> JSONValue {
        values[field]?.json ?? .null
    }

    /// A verdict (P7).
    fileprivate var verification: JSONValue {
        .members([
            "at": .instant(Instant(milliseconds: header.time)), "method": self[.method],
            "reason": self[.reason],
        ])
    }

    /// A refund or revocation (P6).
    fileprivate func revocation(until end: Instant?) -> JSONValue {
        .members([
            "type": .string(kind.name), "at": .instant(Instant(milliseconds: header.time)),
            "until": .instant(end), "reason": self[.reason], "priceMicros": self[.priceMicros],
            "currencyCode": self[.currencyCode],
        ])
    }
}
