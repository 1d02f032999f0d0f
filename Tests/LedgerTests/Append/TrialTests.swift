import Encodings
import EntitlementLedger
import Entitlements
import ModelSupport
import Testing

/// C4, row 4.5: one trial for each customer and trial id.
struct `A trial` {
    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.app, environment: .production)
    }

    private static func withCatalog(
        _ body: (ScratchLedger) async throws -> Void
    ) async throws {
        try await ScratchLedger.with(clock: TestClock(Sample.newYear)) { scratch in
            _ = try scratch.ledger.appender.publish(
                Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            try await body(scratch)
        }
    }

    private static func refusal(_ receipt: Receipt) -> Refusal.Code? {
        guard case .refused(let refusal) = receipt else { return nil }
        return refusal.code
    }

    // Days are rounded up; at the end there is none left, and no access.
    private static let day: Int64 = 86_400_000

    private static let rows: [(offset: Int64, days: Int64, isAllowed: Bool)] = [
        (0, 7, true), (1, 7, true), (day, 6, true), (6 * day, 1, true), (7 * day - 1, 1, true),
        (7 * day, 0, false), (400 * day, 0, false),
    ]

    @Test(arguments: rows)
    func `has its days`(_ offset: Int64, _ days: Int64, _ isAllowed: Bool) async throws {
        try await Self.withCatalog { scratch in
            _ = try scratch.ledger.appender.startTrial("week", for: "ann", Self.request("t"))
            let answer = try scratch.show(
                "ann",
                at: Sample.newYear.advanced(byMilliseconds: offset)
            )
            #expect(answer["trials"]?.array?.first?["remainingDays"] == .integer(days))
            #expect(answer["features"]?["export"]?["allowed"]?.bool == isAllowed)
            #expect(answer["tier"]?.string == (isAllowed ? "pro" : "free"))
        }
    }

    @Test func `is shared by linked customers`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.startTrial("week", for: "device", Self.request("1"))
            #expect(try scratch.show("ann")["trials"] == .array([]))
            _ = try ledger.appender.link("device", to: "ann", Self.request("2"))
            for name: CustomerID in ["ann", "device"] {
                let trials = try scratch.show(name)["trials"]?.array
                #expect(trials?.first?["remainingDays"] == .integer(7), "\(name)")
                let again = try ledger.appender.startTrial(
                    "week",
                    for: name,
                    Self.request("3\(name)")
                )
                #expect(Self.refusal(again) == .trialUsed, "\(name)")
            }
            // Somebody who is not linked has theirs.
            let other = try ledger.appender.startTrial("week", for: "bob", Self.request("4"))
            #expect(Self.refusal(other) == nil)
        }
    }

    // Both had begun one before they were known to be one customer: the first counts.
    @Test func `is the first of those that meet by a link`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.startTrial("week", for: "device", Self.request("1"))
            scratch.clock.now = Sample.day(4)
            _ = try ledger.appender.startTrial("week", for: "ann", Self.request("2"))
            _ = try ledger.appender.link("device", to: "ann", Self.request("3"))
            #expect(
                try scratch.show("ann", at: Sample.day(4))["trials"]?.array?.first?["remainingDays"]
                    == .integer(4)
            )
            #expect(try scratch.show("ann", at: Sample.day(8))["tier"] == "free")
        }
    }

    // A store's trial is a period of a purchase; the app's own is still there to be had.
    @Test func `of a store is told apart from the app's`() async throws {
        try await Self.withCatalog { scratch in
            var lines = Sample.ownedPurchase("ann", "app_store/1")
            lines[0] = Sample.line(
                "buy",
                "purchase.completed",
                "purchase/app_store/1",
                data: """
                    {"transactionId":"t","productId":"pro.month",\
                    "productKind":"auto_renewable","offer":"trial",\
                    "expiresAt":"\(Sample.day(8))"}
                    """
            )
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            let store = try scratch.show("ann", at: Sample.day(2))
            #expect(store["features"]?["export"]?["reason"] == "purchase")
            #expect(store["trials"] == .array([]))
            let history = try scratch.ledger.questions.purchases(
                of: CustomerQuestion(
                    customer: "ann",
                    environment: .production,
                    point: BitemporalPoint(at: Sample.day(2), knownAt: .everything)
                )
            ).json
            let period = history["purchases"]?.array?.first?["periods"]?.array?.first
            #expect(period?["offer"] == "trial")
            scratch.clock.now = Sample.day(9)
            let own = try scratch.ledger.appender.startTrial(
                "week",
                for: "ann",
                Self.request("own")
            )
            #expect(Self.refusal(own) == nil)
            let app = try scratch.show("ann", at: Sample.day(9))
            #expect(app["features"]?["export"]?["reason"] == "trial")
            #expect(app["features"]?["export"]?["sources"] == .strings(["trial/week"]))
        }
    }
}
