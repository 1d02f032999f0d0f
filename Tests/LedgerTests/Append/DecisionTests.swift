import Dispatch
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import Synchronization
import Testing

/// E4: decisions against the log as it stands in that instant.
struct `A decision at append` {
    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.app, environment: .production)
    }

    private static func withCatalog(
        policy: String = "keep",
        count: Int = 3,
        _ body: (ScratchLedger) async throws -> Void
    ) async throws {
        try await ScratchLedger.with { scratch in
            let catalog = try Sample.catalog(policy: policy, count: count)
            _ = try scratch.ledger.appender.publish(
                catalog,
                effective: Sample.newYear,
                request("catalog")
            )
            try await body(scratch)
        }
    }

    private static func refusal(_ receipt: Receipt) -> Refusal.Code? {
        guard case .refused(let refusal) = receipt else { return nil }
        return refusal.code
    }

    private static let purchase = PurchaseName(store: "app_store", originalID: "1")

    // E4, C1; row CL2
    @Test func `keeps a purchase with its first owner under keep`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            #expect(
                try ledger.appender.claim(Self.purchase, for: "ann", Self.request("1"))
                    == .appended(first: 1, count: 1)
            )
            #expect(
                try ledger.appender.claim(Self.purchase, for: "ann", Self.request("1"))
                    == .duplicate(of: 1)
            )
            #expect(
                try ledger.appender.claim(Self.purchase, for: "ann", Self.request("2")) == .known
            )
            #expect(
                Self.refusal(
                    try ledger.appender.claim(Self.purchase, for: "bob", Self.request("3"))
                )
                    == .claimedByAnother
            )
            // The claim, and that one was refused, under both (Stores, rule 7).
            let size = try ledger.questions.size()
            #expect(size == 4)
        }
    }

    // E4, C1; row CL2
    @Test func `moves a purchase to its newest claimant under transfer`() async throws {
        try await Self.withCatalog(policy: "transfer") { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.record(
                Sample.submissions([Sample.purchaseLine("b", "app_store/1")])
            )
            _ = try ledger.appender.claim(Self.purchase, for: "ann", Self.request("1"))
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 1000)
            guard
                case .appended = try ledger.appender.claim(
                    Self.purchase,
                    for: "bob",
                    Self.request("2")
                )
            else {
                Issue.record("refused")
                return
            }
            #expect(try scratch.show("ann")["purchases"]?.array?.count == 0)
            #expect(try scratch.show("bob")["purchases"]?.array?.count == 1)
        }
    }

    // E4, C1: what a store says is never decided, also among the submissions of one group
    @Test func `takes all signals of one group that name other owners`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            let signals = try (0..<64).map { index in
                try RevenueCatBody.submission(
                    of: Array(
                        RevenueCatBody.text(
                            id: "s\(index)",
                            user: "u\(index)",
                            expiration: 1_799_904_000_000,
                            original: "shared"
                        ).utf8
                    )
                )
            }
            let receipts = try await withThrowingTaskGroup(of: Receipt.self) { group in
                for signal in signals {
                    group.addTask { try await ledger.appender.record(concurrently: signal) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let appended = receipts.count { if case .appended = $0 { true } else { false } }
            #expect(appended == signals.count)
            let owners = try (0..<64).count {
                try scratch.show("u\($0)")["purchases"]?.array?.count == 1
            }
            #expect(owners == 1)
        }
    }

    // E4, C4; row 4.5
    @Test func `gives a trial once, however many ask at once`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            #expect(
                Self.refusal(try ledger.appender.startTrial("none", for: "ann", Self.request("0")))
                    == .unknownTrial
            )
            let receipts = try Concurrently.run(32) {
                try ledger.appender.startTrial("week", for: "ann", Self.request("t\($0)"))
            }
            #expect(receipts.count { Self.refusal($0) == .trialUsed } == 31)
            #expect(try ledger.questions.size() == 2)
            let show = try scratch.show("ann")
            #expect(show["trials"]?.array?.first?["remainingDays"]?.integer == 7)
        }
    }

    // E4, C5; row B2: never over, never under
    @Test(arguments: [1, 3, 40, 64, 100])
    func `lets through exactly the uses that a limit has`(_ count: Int) async throws {
        try await Self.withCatalog(count: count) { scratch in
            let ledger = scratch.ledger
            let receipts = try Concurrently.run(64) {
                try ledger.appender.use(
                    "scan",
                    by: "ann",
                    amount: 1,
                    unit: "seconds",
                    Self.request("u\($0)")
                ).receipt
            }
            let used = receipts.count { Self.refusal($0) == nil }
            #expect(used == min(count, 64))
            #expect(receipts.count { Self.refusal($0) == .overLimit } == 64 - used)
            #expect(try ledger.questions.size() == UInt64(1 + used))
            let limit = try scratch.show("ann")["features"]?["scan"]?["limit"]
            #expect(limit?["remaining"]?.integer == Int64(count - used))
        }
    }

    // C5; row B2
    @Test func `refuses a use over the amount, and takes back what is reversed`() async throws {
        try await Self.withCatalog(count: 1) { scratch in
            let ledger = scratch.ledger
            func use(_ id: String, _ amount: Int64) throws -> Receipt {
                try ledger.appender.use(
                    "scan",
                    by: "ann",
                    amount: amount,
                    unit: "seconds",
                    Self.request(id)
                )
                .receipt
            }
            #expect(Self.refusal(try use("0", 31)) == .overLimit)
            #expect(try use("1", 30) == .appended(first: 1, count: 1))
            #expect(try use("1", 30) == .duplicate(of: 1))
            #expect(Self.refusal(try use("2", 30)) == .overLimit)
            guard case .appended = try ledger.appender.reverseUse("1", of: "ann", Self.request("r"))
            else {
                Issue.record("not reversed")
                return
            }
            guard case .appended = try use("3", 30) else {
                Issue.record("the use that was taken back still counts")
                return
            }
        }
    }

    // T3: what is asked for while the clock stands a little behind the log counts behind what was asked before.
    @Test func `counts though the clock was put back`() async throws {
        try await Self.withCatalog(policy: "transfer") { scratch in
            let appender = try scratch.ledger.appender
            let (before, purchase) = (scratch.clock.now, Self.purchase)
            _ = try appender.record(
                Sample.submissions([Sample.purchaseLine("b", "app_store/1")])
            )
            _ = try appender.grant(
                "g",
                to: "ann",
                features: [],
                tier: "pro",
                expiresAt: nil,
                reason: nil,
                Self.request("g")
            )
            _ = try appender.claim(purchase, for: "ann", Self.request("1"))
            _ = try appender.publish(
                Sample.catalog(policy: "transfer", count: 5),
                effective: nil,
                Self.request("other")
            )
            scratch.clock.now = before.advanced(byMilliseconds: -50_000)
            _ = try appender.withdraw("g", from: "ann", Self.request("w"))
            _ = try appender.claim(purchase, for: "bob", Self.request("2"))
            _ = try appender.publish(
                Sample.catalog(policy: "transfer", count: 7),
                effective: nil,
                Self.request("corrected")
            )
            // Whoever is new waits for nobody's clock.
            _ = try appender.grant(
                "g",
                to: "eve",
                features: [],
                tier: "pro",
                expiresAt: nil,
                reason: nil,
                Self.request("e")
            )
            #expect(try scratch.show("eve", at: scratch.clock.now)["tier"]?.string == "pro")
            let later = before.advanced(byMilliseconds: 60_000)
            let (ann, bob) = (
                try scratch.show("ann", at: later), try scratch.show("bob", at: later)
            )
            #expect(ann["tier"]?.string == "free" && ann["purchases"]?.array?.count == 0)
            #expect(bob["purchases"]?.array?.count == 1)
            #expect(bob["features"]?["scan"]?["limit"]?["remaining"]?.integer == 7)
        }
    }

    // Row 2.3: the same of a claim that comes with what the store says.
    @Test func `counts though the clock was put back, with a transaction, too`() async throws {
        try await Self.withCatalog(policy: "transfer") { scratch in
            let appender = try scratch.ledger.appender
            let before = scratch.clock.now
            _ = try appender.restore([SampleTransaction.make()], for: "ann", Self.request("1"))
            scratch.clock.now = before.advanced(byMilliseconds: -50_000)
            _ = try appender.restore([SampleTransaction.make()], for: "bob", Self.request("2"))
            let later = before.advanced(byMilliseconds: 60_000)
            #expect(try scratch.show("ann", at: later)["purchases"]?.array?.count == 0)
            #expect(try scratch.show("bob", at: later)["purchases"]?.array?.count == 1)
        }
    }

    // C5: the clock was put back over a midnight, into a window of which all is left.
    @Test func `of a use is made as of the time that it is recorded with`() async throws {
        try await Self.withCatalog(count: 2) { scratch in
            func refusal(_ id: String) throws -> Refusal.Code? {
                let use = try scratch.ledger.appender.use(
                    "scan",
                    by: "ann",
                    amount: 1,
                    unit: "seconds",
                    Self.request(id)
                )
                return Self.refusal(use.receipt)
            }
            let (first, second) = (try refusal("1"), try refusal("2"))
            #expect(first == nil && second == nil)
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: -50_000)
            let third = try refusal("3")
            #expect(third == .overLimit)
        }
    }

    // E1: what is asked for is compared, also where it would be refused by now
    @Test func `takes no refused request for a repeat of another one`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            let trial = try ledger.appender.startTrial("week", for: "ann", Self.request("key"))
            #expect(trial == .appended(first: 1, count: 1))
            let again = try ledger.appender.startTrial("week", for: "ann", Self.request("key"))
            #expect(again == .duplicate(of: 1))
            let unknown = try ledger.appender.startTrial("month", for: "ann", Self.request("key"))
            #expect(Self.refusal(unknown) == .conflict)
            let use = try ledger.appender.use(
                "none",
                by: "ann",
                amount: 1,
                unit: nil,
                Self.request("key")
            )
            .receipt
            #expect(Self.refusal(use) == .conflict)
            let size = try ledger.questions.size()
            #expect(size == 2)
        }
    }

    // E1 for requests: other content under a known id
    @Test func `refuses another request under a known id`() async throws {
        try await Self.withCatalog(count: 100) { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.use(
                "scan",
                by: "ann",
                amount: 1,
                unit: "seconds",
                Self.request("1")
            )
            let other = try ledger.appender.use(
                "scan",
                by: "ann",
                amount: 2,
                unit: "seconds",
                Self.request("1")
            ).receipt
            #expect(Self.refusal(other) == .conflict)
            let claim = try ledger.appender.claim(Self.purchase, for: "ann", Self.request("1"))
            #expect(Self.refusal(claim) == .conflict)
            _ = try ledger.appender.startTrial("week", for: "ann", Self.request("2"))
            #expect(
                try ledger.appender.startTrial("week", for: "ann", Self.request("2"))
                    == .duplicate(of: 2)
            )
            let elsewhere = try ledger.appender.startTrial("week", for: "bob", Self.request("2"))
            #expect(Self.refusal(elsewhere) == .conflict)
        }
    }
}

/// Bodies that run at the same time, each on a thread of its own.
enum Concurrently {
    static func run<Result: Sendable>(
        _ count: Int,
        _ body: @escaping @Sendable (Int) throws -> Result
    ) throws -> [Result] {
        let results = Mutex<[Swift.Result<Result, any Error>]>([])
        let group = DispatchGroup()
        for index in 0..<count {
            group.enter()
            Thread.detachNewThread {
                let result = Swift.Result { try body(index) }
                results.withLock { $0.append(result) }
                group.leave()
            }
        }
        group.wait()
        return try results.withLock { try $0.map { try $0.get() } }
    }
}
