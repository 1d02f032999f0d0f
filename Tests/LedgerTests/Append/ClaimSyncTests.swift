import Encodings
import EntitlementLedger
import Entitlements
import ModelSupport
import Testing

/// That the store of what a customer hands in was heard (Stores, rule 7; P11).
struct `A claim` {
    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.app, environment: .production)
    }

    private static func kinds(_ ledger: Ledger, from first: UInt64) throws -> [EventKind] {
        try (first..<ledger.questions.size()).map {
            try #require(try ledger.questions.event(at: $0)).event.kind
        }
    }

    // Stores, rule 7; P11, T5: from the claim on, in both times, also after what was known before
    @Test(arguments: [false, true])
    func `says that its store was heard`(_ isKnown: Bool) async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            if isKnown { _ = try ledger.appender.record(SampleTransaction.make().facts) }
            let now = scratch.clock.now
            let transaction = SampleTransaction.make()
            _ = try ledger.appender.claim(transaction, for: "ann", Self.request("r"))
            let size = try ledger.questions.size()
            func syncedAt(_ at: Instant, _ prefix: UInt64) throws -> String? {
                let question = CustomerQuestion(
                    customer: "ann",
                    environment: .production,
                    point: BitemporalPoint(at: at, knownAt: .sequence(prefix))
                )
                let purchases = try ledger.questions.purchases(of: question).json["purchases"]
                return purchases?.array?.first?["syncedAt"]?.string
            }
            #expect(try syncedAt(now, size) == now.description)
            #expect(try syncedAt(now, size - 1) == nil)
            #expect(try syncedAt(now.advanced(byMilliseconds: -1), size) == nil)
        }
    }

    // Stores, rule 7: its owner need not claim what carries their token
    @Test func `of its owner says so once an hour, whatever it adds`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            let renewals = [EventKind.purchaseRenewed, .verificationPassed]
            let synced = [
                [.purchaseCompleted, .verificationPassed, .syncCompleted], renewals,
                renewals + [.syncCompleted],
            ]
            for (number, kinds) in synced.enumerated() {
                let size = try ledger.questions.size()
                let outcome = try ledger.appender.claim(
                    SampleTransaction.make(transaction: number + 1, token: "ann"),
                    for: "ann",
                    Self.request("r\(number)")
                )
                let behind = size + UInt64(kinds.count)
                #expect(outcome == .recorded(sequence: size, size: behind))
                #expect(try Self.kinds(ledger, from: size) == kinds)
                scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 1_800_000)
            }
        }
    }

    // E1: an hour later, too, when another request would have its sync told again (row 6.3, the control)
    @Test func `under its own request's id appends nothing, however late`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            let (claimed, restored) = (SampleTransaction.make("1"), SampleTransaction.make("2"))
            func ask(_ claim: String, _ restore: String) throws -> [ClaimOutcome] {
                let first = try ledger.appender.claim(claimed, for: "ann", Self.request(claim))
                return [first]
                    + (try ledger.appender.restore([restored], for: "ann", Self.request(restore)))
            }
            let first = try ask("c", "r")
            #expect(first == [.recorded(sequence: 0, size: 4), .recorded(sequence: 4, size: 8)])
            let known = [ClaimOutcome.known(sequence: 0), .known(sequence: 4)]
            for _ in 0..<3 {
                #expect(try ask("c", "r") == known)
                scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 3_600_000)
            }
            #expect(try ledger.questions.size() == 8)
            #expect(try ask("c2", "r2") == known)
            #expect(try Self.kinds(ledger, from: 8) == [.syncCompleted, .syncCompleted])
        }
    }

    // Interfaces, "Shapes": the size is the log's behind all of them.
    @Test func `of several products says how large the log is behind the last`() async throws {
        try await ScratchLedger.with { scratch in
            let whole = SampleTransaction.make("1")
            var transaction = whole
            transaction.facts.drafts = ["1/a", "1/b"].flatMap { product in
                whole.facts.drafts.map { draft in
                    var draft = draft
                    draft.subject = .purchase(PurchaseName(store: "app_store", originalID: product))
                    return draft
                }
            }
            let outcome = try scratch.ledger.appender.claim(
                transaction,
                for: "ann",
                Self.request("r")
            )
            // The facts of both, and a claim and a sync of each.
            #expect(outcome == .recorded(sequence: 0, size: 8))
            #expect(try scratch.ledger.questions.size() == 8)
        }
    }
}
