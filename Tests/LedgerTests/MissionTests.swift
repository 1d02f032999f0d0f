import Crypto
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import Testing

/// Promises of the mission, one small story each, told through the ledger.
struct `The ledger keeps its promise` {
    /// A messaging app with three prices, and later a fourth feature (Promises, "Prices").
    private static let messenger = """
        {"tiers":["free","premium"],
         "features":[{"id":"chat","level":"free"},{"id":"bingo"},{"id":"packs"}],
         "products":[
           {"id":"coffee","kind":"consumable","unlocks":{}},
           {"id":"bingo.one","kind":"non_consumable","unlocks":{"features":["bingo"]}},
           {"id":"duo","kind":"non_consumable","unlocks":{"features":["bingo","packs"]}},
           {"id":"full","kind":"non_consumable","unlocks":{"all":true}},
           {"id":"month","kind":"auto_renewable","unlocks":{"tier":"premium"}}],
         "trials":[{"id":"week","days":7,"tier":"premium"}]}
        """

    /// The events of a purchase that is bought, verified and claimed on a day.
    private static func bought(
        _ product: String,
        by customer: String,
        kind: String = "non_consumable",
        day: Int64 = 1,
        until end: Int64? = nil,
        isVerified: Bool = true
    ) throws -> [Submission] {
        let purchase = "app_store/\(customer).\(product)"
        let expires = end.map { ",\"expiresAt\":\"\(Sample.day($0))\"" } ?? ""
        let verdict = isVerified ? "verification.passed" : "verification.failed"
        return try Sample.submissions([
            Sample.line(
                "buy-" + purchase,
                "purchase.completed",
                "purchase/" + purchase,
                data: """
                    {"transactionId":"t","productId":"\(product)","productKind":"\(kind)",\
                    "priceMicros":4990000,"currencyCode":"EUR"\(expires)}
                    """,
                time: Sample.day(day)
            ),
            Sample.line(
                "ok-" + purchase,
                verdict,
                "purchase/" + purchase,
                data: #"{"method":"manual"}"#,
                time: Sample.day(day)
            ),
            Sample.line(
                "claim-" + purchase,
                "customer.claimed",
                "customer/" + customer,
                data: #"{"purchase":"\#(purchase)"}"#,
                time: Sample.day(day)
            ),
        ])
    }

    private static func publish(
        _ text: String,
        _ ledger: Ledger,
        day: Int64,
        id: String = "catalog"
    ) throws {
        let receipt = try ledger.appender.publish(
            Sample.json(text),
            effective: Sample.day(day),
            Request(id: id, source: Source.catalog, environment: .production)
        )
        guard case .appended = receipt else {
            Issue.record("the catalog was not published: \(receipt)")
            return
        }
    }

    private static func allowed(_ answer: JSONValue) -> Set<String> {
        Set(
            (answer["features"]?.members ?? []).filter { $0.value["allowed"]?.bool == true }
                .map(\.name)
        )
    }

    // row 4.1, row 4.6, row B1, row PL1, row PL2, row ES6: levels, bundles, and one feature sold
    // by several products; a feature without a level is of the highest.
    @Test(arguments: [
        ("coffee", ["chat"]), ("bingo.one", ["chat", "bingo"]),
        ("duo", ["chat", "bingo", "packs"]), ("full", ["chat", "bingo", "packs"]),
        ("month", ["chat", "bingo", "packs"]), ("gone", ["chat"]),
    ])
    func `that a product unlocks its cells of the matrix`(
        _ product: String,
        _ features: [String]
    ) async throws {
        try await ScratchLedger.with { scratch in
            try Self.publish(Self.messenger, scratch.ledger, day: 1)
            _ = try scratch.ledger.appender.record(
                Self.bought(
                    product,
                    by: "ann",
                    kind: product == "coffee" ? "consumable" : "non_consumable"
                )
            )
            let answer = try scratch.show("ann", at: Sample.day(2))
            #expect(Self.allowed(answer) == Set(features))
        }
    }

    // row PL4, row B5, row CL6: a feature that is added, or moved from free to paid, later.
    @Test func `that what is paid changes in one place, and buyers of everything get it`()
        async throws
    {
        try await ScratchLedger.with { scratch in
            try Self.publish(Self.messenger, scratch.ledger, day: 1)
            _ = try scratch.ledger.appender.record(Self.bought("full", by: "ann"))
            let later = Self.messenger
                .replacing(
                    "{\"id\":\"chat\",\"level\":\"free\"}",
                    with: "{\"id\":\"chat\"},{\"id\":\"signal\"}"
                )
            try Self.publish(later, scratch.ledger, day: 10, id: "later")
            for (day, ann, bob) in [
                (Int64(9), ["chat", "bingo", "packs"], ["chat"]),
                (10, ["chat", "bingo", "packs", "signal"], []),
            ] {
                #expect(try Self.allowed(scratch.show("ann", at: Sample.day(day))) == Set(ann))
                #expect(try Self.allowed(scratch.show("bob", at: Sample.day(day))) == Set(bob))
            }
        }
    }

    // row B4, row CL4, row 3.2, row Z15, row Z17: status, tier and the instant when they change.
    @Test func `that a subscription ends when it ends, and says so before`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.publish(Self.messenger, scratch.ledger, day: 1)
            _ = try scratch.ledger.appender.record(
                Self.bought("month", by: "ann", kind: "auto_renewable", until: 31)
            )
            let during = try scratch.show("ann", at: Sample.day(30))
            #expect(during["tier"] == "premium")
            #expect(during["validUntil"] == .instant(Sample.day(31)))
            #expect(during["purchases"]?.array?.first?["isSynced"]?.bool == false)
            let after = try scratch.show("ann", at: Sample.day(31))
            #expect(after["tier"] == "free")
            #expect(after["purchases"]?.array?.first?["status"] == "expired")
            // Years without news take nothing away before the known end, and nothing after it.
            #expect(try scratch.show("ann", at: Sample.day(9999))["validUntil"] == .null)
            _ = try scratch.ledger.appender.record(
                Sample.submissions([
                    Sample.line(
                        "sync",
                        "sync.completed",
                        "purchase/app_store/ann.month",
                        time: Sample.day(3)
                    ),
                    Sample.line(
                        "refund",
                        "revocation.revoked",
                        "purchase/app_store/ann.month",
                        time: Sample.day(20)
                    ),
                ])
            )
            let revoked = try scratch.show("ann", at: Sample.day(30))
            #expect(revoked["tier"] == "free")
            #expect(revoked["purchases"]?.array?.first?["status"] == "revoked")
            #expect(revoked["purchases"]?.array?.first?["syncedAt"] == .instant(Sample.day(3)))
        }
    }

    // row 7.5, row ES2, row 10.1: what is not verified grants nothing; a flow is kept.
    @Test func `that an unverified purchase gives nothing`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.publish(Self.messenger, scratch.ledger, day: 1)
            _ = try scratch.ledger.appender.record(
                Self.bought("full", by: "ann", isVerified: false)
            )
            _ = try scratch.ledger.appender.record(
                Sample.submissions([
                    Sample.line(
                        "f",
                        "flow.failed",
                        "customer/ann",
                        data:
                            #"{"flowId":"f1","errorCode":"VERIFICATION_FAILED","stages":{"store":412}}"#
                    )
                ])
            )
            let answer = try scratch.show("ann", at: Sample.day(2))
            #expect(Self.allowed(answer) == ["chat"])
            #expect(answer["purchases"]?.array?.first?["status"] == "unverified")
            var flows = 0
            var filter = EventFilter(sequences: 0..<UInt64.max)
            filter.kind = .flowFailed
            try scratch.ledger.questions.events(filter) { _, event in
                #expect(event["data"]?["stages"]?["store"]?.integer == 412)
                flows += 1
                return true
            }
            #expect(flows == 1)
        }
    }

    // row B7: assignment needs no state and is stable; row Z16: a lease's end is computed.
    @Test func `that a customer stays in their variant`() async throws {
        let experiment = Self.messenger.replacing(
            "\"trials\":",
            with: """
                "experiments":[{"id":"x","variants":[{"id":"a","weight":1},
                  {"id":"b","weight":1,"overrides":{"features":[{"id":"bingo","level":"free"}]}}]}],
                "trials":
                """
        )
        try await ScratchLedger.with { scratch in
            try Self.publish(experiment, scratch.ledger, day: 1)
            let customers = (0..<64).map { "c\($0)" as CustomerID }
            let first = try customers.map { try Self.allowed(scratch.show($0, at: Sample.day(2))) }
            try scratch.reopenWithoutViews()
            let again = try customers.map { try Self.allowed(scratch.show($0, at: Sample.day(3))) }
            #expect(first == again)
            let inB = first.count { $0.contains("bingo") }
            #expect((12...52).contains(inB), "\(inB) of 64 see variant b")
        }
    }

    // row 3.1, row 3.3: what was bought is there when the ledger is opened again.
    @Test func `that purchases persist`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.publish(Self.messenger, scratch.ledger, day: 1)
            _ = try scratch.ledger.appender.record(Self.bought("full", by: "ann"))
            let before = try scratch.show("ann", at: Sample.day(2))
            #expect(Self.allowed(before).contains("packs"))
            try scratch.reopen()
            #expect(try scratch.show("ann", at: Sample.day(2)) == before)
        }
    }

    // row Z12: per source, how far the log is known to be complete; the latest word counts.
    @Test func `that it says how complete it is`() async throws {
        try await ScratchLedger.with { scratch in
            let lines = [(5, "a"), (9, "b"), (7, "c")].map { day, id in
                Sample.line(
                    id,
                    "sync.completed",
                    "store/app_store",
                    data: #"{"through":"\#(Sample.day(Int64(day)))"}"#
                )
            }
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            _ = try scratch.ledger.appender.record(Self.bought("full", by: "ann"))
            let completeness = try scratch.ledger.auditor.status().completeness
            let support = completeness["support"]
            #expect(support?.through == Sample.day(9))
            #expect(support?.events == 6)
            #expect(completeness["app_store"] == nil)
        }
    }

    // E5: a record of a kind that this version does not know stops it; it is never skipped.
    @Test func `that it never skips what it does not know`() async throws {
        let log = MemoryLog()
        let keys = StreamKeys(.init(size: .bits256))
        var randomness = RandomSource.system
        let sealed = try SealedRecord(
            header: SealedRecord.Header(
                time: 0,
                observedAt: 0,
                stream: 4096,
                kind: 200,
                source: 1,
                environment: 0
            ),
            signal: SignalDigest(high: 1, low: 2),
            facts: [],
            identity: [],
            key: keys,
            nonce: SealingNonce(using: &randomness),
            attached: .none,
            attachedDigest: nil,
            otherStreams: []
        )
        let record = try #require(sealed)
        struct Nothing: LogIndex {
            func sequence(of signal: SignalDigest) -> UInt64? { nil }
            func lastSequence(of stream: UInt64) -> UInt64? { nil }
        }
        let decision = try GroupDecision(
            [SealedSubmission(records: [record])],
            end: .empty,
            index: Nothing(),
            clock: 0
        )
        _ = try log.append(decision.batch)
        try await withScratchDirectory { folder -> Void in
            let fault = #expect(throws: DecodingFault.self) {
                try Ledger(over: log, viewsIn: folder)
            }
            #expect(fault?.isNewer == true)
        }
    }
}
