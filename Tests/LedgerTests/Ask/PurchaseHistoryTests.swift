import Encodings
import EntitlementLedger
import Entitlements
import ModelSupport
import Testing

/// Rows 3.2, 7.1 and 7.2: purchases with their history.
struct `The purchases of a customer` {
    private static func purchases(
        _ scratch: ScratchLedger,
        _ customer: CustomerID = "ann",
        at instant: Instant,
        known: BitemporalPoint.Known = .everything
    ) throws -> JSONValue {
        try scratch.ledger.questions.purchases(
            of: CustomerQuestion(
                customer: customer,
                environment: .production,
                point: BitemporalPoint(at: instant, knownAt: known)
            )
        ).json
    }

    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.app, environment: .production)
    }

    /// Two months and a refund of the first, told after the second.
    private static func withHistory(
        _ body: (ScratchLedger) async throws -> Void
    ) async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                request("catalog")
            )
            _ = try ledger.appender.restore(
                [SampleTransaction.make(), SampleTransaction.make(transaction: 2)],
                for: "ann",
                request("r")
            )
            let refund = try Sample.event(
                "refund",
                "revocation.refunded",
                "purchase/app_store/1",
                data: #"{"transactionId":"1.1","reason":"asked","priceMicros":4990000,"#
                    + #""currencyCode":"EUR"}"#,
                time: Sample.day(10)
            )
            _ = try ledger.appender.record(Submission(event: refund))
            try await body(scratch)
        }
    }

    private static func periods(_ answer: JSONValue) -> [JSONValue] {
        answer["purchases"]?.array?.first?["periods"]?.array ?? []
    }

    // row 7.1
    @Test func `are those of show, each with its periods`() async throws {
        try await Self.withHistory { scratch in
            let at = Sample.day(40)
            let answer = try Self.purchases(scratch, at: at)
            let show = try scratch.show("ann", at: at)
            for member in ["customer", "environment", "at", "known", "sequence"] {
                #expect(answer[member] == show[member], "\(member)")
            }
            let purchase = try #require(answer["purchases"]?.array?.first)
            let shown = try #require(show["purchases"]?.array?.first?.members)
            let members = try #require(purchase.members)
            #expect(Array(members.prefix(shown.count)) == shown)
            #expect(members.dropFirst(shown.count).map(\.name) == ["ownedSince", "periods"])
            #expect(purchase["status"]?.string == "active")
        }
    }

    // row 7.2
    @Test func `say of each period what a dialog shows`() async throws {
        try await Self.withHistory { scratch in
            let periods = Self.periods(try Self.purchases(scratch, at: Sample.day(40)))
            #expect(periods.map { $0["transactionId"]?.string } == ["1.1", "1.2"])
            let first = try #require(periods.first)
            let expected = try Sample.json(
                """
                {"transactionId":"1.1","productId":"pro.month","productKind":"auto_renewable",\
                "status":"refunded","startsAt":"\(Sample.day(1))","expiresAt":"\(Sample.day(31))",\
                "graceUntil":null,"ownership":null,"offer":null,"priceMicros":4990000,\
                "currencyCode":"EUR","quantity":null,"storefront":null,"isVerified":true,\
                "verification":{"at":"\(Sample.day(1))","method":"app_store_jws","reason":null},\
                "revocation":{"type":"revocation.refunded","at":"\(Sample.day(10))","until":null,\
                "reason":"asked","priceMicros":4990000,"currencyCode":"EUR"},\
                "source":"app_store","recordedAt":"\(scratch.clock.now)"}
                """
            )
            #expect(first == expected)
            #expect(periods.last?["status"]?.string == "active")
            #expect(periods.last?["revocation"] == .null)
        }
    }

    // T4, T5, P9
    @Test(
        arguments: [
            (0, 8, []), (1, 8, ["active"]), (9, 8, ["active"]), (10, 8, ["refunded"]),
            (40, 8, ["refunded", "active"]), (90, 8, ["refunded", "expired"]),
            (40, 7, ["expired", "active"]), (20, 7, ["active"]), (40, 0, []),
        ] as [(Int64, UInt64, [String])]
    )
    func `answer at a point`(day: Int64, prefix: UInt64, statuses: [String]) async throws {
        try await Self.withHistory { scratch in
            #expect(try scratch.ledger.questions.size() == 8)
            let answer = try Self.purchases(
                scratch,
                at: Sample.day(day),
                known: .sequence(prefix)
            )
            #expect(Self.periods(answer).compactMap { $0["status"]?.string } == statuses)
        }
    }

    // row Z15: a renewal changes what is listed, and no status
    @Test(arguments: [(5, 10), (10, 31), (31, 61), (200, nil)] as [(Int64, Int64?)])
    func `say until when they stand`(day: Int64, next: Int64?) async throws {
        try await Self.withHistory { scratch in
            let answer = try Self.purchases(scratch, at: Sample.day(day))
            let validUntil = next.map { Sample.day($0) }
            #expect(answer["validUntil"] == .instant(validUntil))
            guard let validUntil else { return }
            let before = try Self.purchases(scratch, at: validUntil.advanced(byMilliseconds: -1))
            #expect(before["purchases"] == answer["purchases"])
            let after = try Self.purchases(scratch, at: validUntil)
            #expect(after["purchases"] != answer["purchases"])
        }
    }

    // C1: from the transfer on it is the new owner's
    @Test func `follow their owner`() async throws {
        try await Self.withHistory { scratch in
            let transfer = try Sample.event(
                "move",
                "customer.transferred",
                "customer/bob",
                data: #"{"from":["ann"]}"#,
                time: scratch.clock.now
            )
            _ = try scratch.ledger.appender.record(Submission(event: transfer))
            let bobs = try Self.purchases(scratch, "bob", at: scratch.clock.now)
            let purchase = try #require(bobs["purchases"]?.array?.first)
            #expect(purchase["ownedSince"]?.string == scratch.clock.now.description)
            #expect(purchase["periods"]?.array?.count == 2)
            let anns = try Self.purchases(scratch, at: scratch.clock.now)
            #expect(anns["purchases"] == .array([]))
            let before = try Self.purchases(scratch, at: Sample.day(40))
            #expect(before["purchases"]?.array?.first?["ownedSince"] == .null)
        }
    }

    // C1: what was given away and came back at one instant was hers all the time.
    @Test func `are owned since ever where they were given back at once`() async throws {
        try await Self.withHistory { scratch in
            for (id, owner, former) in [("away", "bob", "ann"), ("back", "ann", "bob")] {
                let transfer = try Sample.event(
                    id,
                    "customer.transferred",
                    "customer/" + owner,
                    data: #"{"from":["\#(former)"]}"#,
                    time: scratch.clock.now
                )
                _ = try scratch.ledger.appender.record(Submission(event: transfer))
            }
            let anns = try Self.purchases(scratch, at: scratch.clock.now)
            #expect(anns["purchases"]?.array?.first?["ownedSince"] == .null)
            let bobs = try Self.purchases(scratch, "bob", at: scratch.clock.now)
            #expect(bobs["purchases"] == .array([]))
        }
    }

    @Test func `of nobody are none`() async throws {
        try await Self.withHistory { scratch in
            let answer = try Self.purchases(scratch, "nobody", at: Sample.day(40))
            #expect(answer["purchases"] == .array([]))
        }
    }
}
