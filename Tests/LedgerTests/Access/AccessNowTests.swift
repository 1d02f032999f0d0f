import Encodings
import EntitlementLedger
import Entitlements
import ModelSupport
import Testing

struct `Access now` {
    // Row 4.3, law 8: the cache only remembers what the fold says.
    @Test func `is what the state says, however often and between whatever appends`() async throws {
        var allowed = 0
        for seed: UInt64 in 1...60 {
            let history = RandomHistory(seed: seed, questions: 12)
            let customers = Set(history.questions.map(\.customer)).sorted()
            // Time goes on while events come in; it stands still now and then, so that what was
            // remembered is asked again.
            let instants = history.questions.map(\.at).sorted()
            let clock = TestClock(Instant(milliseconds: 1_893_456_000_000))
            try await ScratchLedger.with(clock: clock) { scratch in
                for (index, recorded) in history.log.enumerated() {
                    _ = try scratch.ledger.appender.record(Submission(event: recorded.event))
                    let at = instants[index * instants.count / history.log.count]
                    try compare(scratch, customers, at: at, seed: seed)
                }
                try scratch.reopen()
                for at in instants.suffix(2) {
                    allowed += try compare(scratch, customers, at: at, seed: seed)
                    try compare(scratch, customers, at: at, seed: seed)
                }
            }
        }
        #expect(allowed > 100, "features were allowed, or there was nothing to compare")
    }

    // K3: asked again, after the catalog took the feature out of the product.
    @Test func `keeps what was bought`() async throws {
        try await ScratchLedger.with { scratch in
            try publish(#""unlocks":{"features":["export"]}"#, scratch, day: 1, id: "a")
            try publish(#""unlocks":{}"#, scratch, day: 10, id: "b")
            try own("non_consumable", scratch)
            for _ in 0..<2 {
                #expect(try can(scratch, at: Sample.day(20)))
            }
        }
    }

    // Z15: what was written names what the catalog in force sells, though another one gives the same.
    @Test func `is not kept beyond the next catalog`() async throws {
        try await ScratchLedger.with { scratch in
            let unlocks = #""unlocks":{"features":["export"]}"#
            try publish(unlocks, scratch, day: 1, id: "a")
            let policy = #","policy":{"claim":"transfer"}"#
            try publish(unlocks, scratch, day: 10, id: "b", more: policy)
            try own("non_consumable", scratch)
            let questions = scratch.ledger.questions
            func isKept(at now: Instant) throws -> Bool {
                try questions.cachedAccess(of: "ann", environment: .production, at: now) != nil
            }
            let folded = try questions.foldAccess(
                of: "ann",
                environment: .production,
                at: Sample.day(9),
                isWritten: true
            )
            #expect(folded.validUntil == nil && folded.holdsUntil == Sample.day(10))
            let before = Sample.day(10).advanced(byMilliseconds: -1)
            #expect(try isKept(at: before) && !isKept(at: Sample.day(10)))
            // The last one holds for good.
            #expect(try can(scratch, at: Sample.day(10)) && isKept(at: Sample.day(90)))
        }
    }

    // P12: a catalog that comes later moves the ends of stretches that were remembered.
    @Test func `follows a catalog that changes the leeway`() async throws {
        try await ScratchLedger.with { scratch in
            try publish(#""unlocks":{"features":["export"]}"#, scratch, day: 1, id: "a")
            try own("auto_renewable", scratch, until: Sample.day(31))
            let late = Sample.day(31).advanced(byMilliseconds: 1000)
            #expect(try !can(scratch, at: late))
            #expect(try !can(scratch, at: late))
            try publish(
                #""unlocks":{"features":["export"]}"#,
                scratch,
                day: 2,
                id: "b",
                more: #","policy":{"renewalLeewaySeconds":60}"#
            )
            #expect(try can(scratch, at: late))
        }
    }

    private func can(_ scratch: ScratchLedger, at: Instant) throws -> Bool {
        try scratch.ledger.questions.can("ann", "export", environment: .production, at: at)
    }

    private func publish(
        _ unlocks: String,
        _ scratch: ScratchLedger,
        day: Int64,
        id: String,
        more: String = ""
    ) throws {
        let document = try Sample.json(
            """
            {"tiers":["free","pro"],"features":[{"id":"export"}],
             "products":[{"id":"p","kind":"non_consumable",\(unlocks)}]\(more)}
            """
        )
        _ = try scratch.ledger.appender.publish(
            document,
            effective: Sample.day(day),
            Request(id: id, source: Source.catalog, environment: .production)
        )
    }

    /// Ann owns a verified purchase of product `p` from day 2 on.
    private func own(_ kind: String, _ scratch: ScratchLedger, until end: Instant? = nil) throws {
        let expires = end.map { ",\"expiresAt\":\"\($0)\"" } ?? ""
        let purchase = "app_store/1"
        _ = try scratch.ledger.appender.record(
            Sample.submissions([
                Sample.line(
                    "buy",
                    "purchase.completed",
                    "purchase/" + purchase,
                    data: """
                        {"transactionId":"t","productId":"p","productKind":"\(kind)"\(expires)}
                        """,
                    time: Sample.day(2)
                ),
                Sample.line(
                    "ok",
                    "verification.passed",
                    "purchase/" + purchase,
                    data: #"{"method":"manual"}"#
                ),
                Sample.line(
                    "claim",
                    "customer.claimed",
                    "customer/ann",
                    data: #"{"purchase":"\#(purchase)"}"#
                ),
            ])
        )
    }

    /// Compares every feature of every customer; returns how many were allowed.
    @discardableResult
    private func compare(
        _ scratch: ScratchLedger,
        _ customers: [CustomerID],
        at: Instant,
        seed: UInt64
    ) throws -> Int {
        var allowed = 0
        let point = BitemporalPoint(at: at, knownAt: .everything)
        for customer in customers {
            let state = try scratch.ledger.questions.show(
                CustomerQuestion(customer: customer, environment: .production, point: point)
            ).json
            for feature in state["features"]?.members ?? [] {
                let isAllowed = try scratch.ledger.questions.can(
                    customer,
                    feature.name,
                    environment: .production,
                    at: point.at
                )
                allowed += isAllowed ? 1 : 0
                #expect(
                    isAllowed == feature.value["usable"]?.bool,
                    "\(customer) \(feature.name) seed \(seed)"
                )
            }
            let unknown = try scratch.ledger.questions.can(
                customer,
                "no such",
                environment: .production,
                at: point.at
            )
            #expect(!unknown)
        }
        return allowed
    }
}
