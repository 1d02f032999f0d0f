public import Entitlements
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
        let timeline = try timeline(
            of: question.customer,
            environment: question.environment,
            size: size
        )
        let names = RecordedNames(ledger: self)
        let purchases = try timeline.owned(at: at).map { owned in
            let name = try names.purchaseName(owned.timeline.number)
            let periods = try owned.timeline.periods.indices
                .filter { owned.timeline.periods[$0].start <= at }
                .map { try history(ofPeriod: $0, of: owned.timeline, at: at) }
            return (
                name,
                JSONValue.object(
                    owned.timeline.state(at: at).members(name: name) + [
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
                JSONMember("purchases", .array(purchases.sorted { $0.0 < $1.0 }.map(\.1)))
            ]
        )
    }

    /// What one transaction gave, as it stands at an instant.
    private func history(
        ofPeriod index: Int,
        of purchase: PurchaseTimeline,
        at instant: Instant
    ) throws -> JSONValue {
        let period = purchase.periods[index]
        let statement = try opened(period.statement.sequence)
        let verdict = try period.verdict(at: instant).map { try opened($0.sequence) }
        let revocation = try period.revocation(at: instant).map {
            (interval: $0.interval, event: try opened($0.statement.sequence))
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
                JSONMember("expiresAt", .instant(period.end)),
                JSONMember("graceUntil", .instant(period.grace?.end)),
            ]
                + [.ownership, .offer, .priceMicros, .currencyCode, .quantity, .storefront].map {
                    (field: Field) in JSONMember(field.name, statement[field])
                } + [
                    JSONMember("isVerified", .bool(period.isVerified(at: instant))),
                    JSONMember("verification", verdict?.verification ?? .null),
                    JSONMember(
                        "revocation",
                        revocation.map { $0.event.revocation(until: $0.interval.end) } ?? .null
                    ),
                    JSONMember("source", .optional(statement.source)),
                    JSONMember(
                        "recordedAt",
                        .instant(Instant(milliseconds: statement.header.recordedAt))
                    ),
                ]
        )
    }

    private func opened(_ sequence: UInt64) throws -> OpenedEvent {
        let opener = EventOpener(vault: vault, log: log)
        var opened: OpenedEvent?
        try log.readRecords([sequence]) { opened = try opener.open($1) }
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
