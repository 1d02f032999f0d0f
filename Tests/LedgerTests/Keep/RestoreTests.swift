import Encodings
import EntitlementLedger
import Entitlements
import Testing

/// Row 6.3: many transactions at once, each recorded, known or refused.
struct `A restore` {
    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.app, environment: .production)
    }

    private static func kinds(_ ledger: Ledger, from first: UInt64 = 0) throws -> [EventKind] {
        try (first..<ledger.questions.size()).map {
            try #require(try ledger.questions.event(at: $0)).event.kind
        }
    }

    private static let hour: Int64 = 3_600_000

    // row 6.3
    @Test func `says of each transaction what became of it`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.claim(
                SampleTransaction.make("1"),
                for: "ann",
                Self.request("a")
            )
            _ = try ledger.appender.claim(
                SampleTransaction.make("2"),
                for: "bob",
                Self.request("b")
            )
            let outcomes = try ledger.appender.restore(
                ["3", "1", "2", "4"].map { SampleTransaction.make($0) },
                for: "ann",
                Self.request("r")
            )
            #expect(outcomes.count == 4)
            guard case .recorded = outcomes[0], outcomes[1] == .known(sequence: 0),
                case .refused(let refusal, "bob") = outcomes[2], case .recorded = outcomes[3]
            else {
                Issue.record("\(outcomes)")
                return
            }
            #expect(refusal.code == .claimedByAnother)
            let names = try scratch.show("ann")["purchases"]?.array?
                .compactMap { $0["purchase"]?.string }
            #expect(names == ["app_store/1", "app_store/3", "app_store/4"])
        }
    }

    // row 6.3, E1: in another order too
    @Test func `records nothing twice`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            let transactions = (1...12).flatMap { transaction in
                ["1", "2"].map { SampleTransaction.make($0, transaction: transaction) }
            }
            let first = try ledger.appender.restore(transactions, for: "ann", Self.request("r"))
            #expect(first.allSatisfy { if case .recorded = $0 { true } else { false } })
            let size = try ledger.questions.size()
            #expect(size == 24 * 2 + 2 * 2)
            let synced = [EventKind.syncCompleted, .syncCompleted]
            for (id, kinds) in [("r", []), ("r2", synced)] as [(String, [EventKind])] {
                let again = try ledger.appender.restore(
                    transactions.reversed(),
                    for: "ann",
                    Self.request(id)
                )
                #expect(again.allSatisfy { if case .known = $0 { true } else { false } })
                #expect(try Self.kinds(ledger, from: size) == kinds, "\(id)")
            }
        }
    }

    // row 6.3, row 3.2: a client in a loop does not grow the log
    @Test func `of what is known updates the sync state once an hour`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.claim(SampleTransaction.make(), for: "ann", Self.request("a"))
            func syncedAt() throws -> String? {
                try scratch.show("ann")["purchases"]?.array?.first?["syncedAt"]?.string
            }
            let start = scratch.clock.now
            #expect(try syncedAt() == start.description)
            for minute in 0..<180 {
                scratch.clock.now = start.advanced(byMilliseconds: Int64(minute) * 60_000)
                // Each time signed anew by the store.
                let outcomes = try ledger.appender.restore(
                    [SampleTransaction.make(signed: minute)],
                    for: "ann",
                    Self.request("r\(minute)")
                )
                #expect(outcomes == [.known(sequence: 0)])
            }
            // The claim's own is none that the customer asked for again.
            #expect(
                try Self.kinds(ledger, from: 3) == Array(repeating: .syncCompleted, count: 1 + 3)
            )
            #expect(
                try syncedAt() == start.advanced(byMilliseconds: 2 * Self.hour).description
            )
        }
    }

    // E4
    @Test func `by 64 threads at once updates the sync state once`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.claim(SampleTransaction.make(), for: "ann", Self.request("a"))
            let outcomes = try Concurrently.run(64) { index in
                try ledger.appender.restore(
                    [SampleTransaction.make(signed: index % 3)],
                    for: "ann",
                    Self.request("r\(index)")
                )
            }
            #expect(outcomes.allSatisfy { $0 == [.known(sequence: 0)] })
            #expect(try Self.kinds(ledger, from: 3) == [.syncCompleted, .syncCompleted])
        }
    }

    // P1, P2: what would change an answer is new, though the transaction is known
    @Test func `records facts that say something new of a known transaction`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.claim(SampleTransaction.make(), for: "ann", Self.request("a"))
            func restore(_ signed: Int, priceMicros: Int64 = 4_990_000) throws -> ClaimOutcome {
                try ledger.appender.restore(
                    [SampleTransaction.make(signed: signed, priceMicros: priceMicros)],
                    for: "ann",
                    Self.request("r\(signed)")
                )[0]
            }
            #expect(try restore(1) == .known(sequence: 0))
            #expect(try restore(2, priceMicros: 990_000) == .recorded(sequence: 5, size: 7))
            // Told back: the newest statement says otherwise by now.
            #expect(try restore(3) == .recorded(sequence: 7, size: 9))
            #expect(try restore(4) == .known(sequence: 7))
            // A newer end cuts the period; the store's word after that restores it.
            _ = try ledger.appender.record(
                Submission(
                    event: try Sample.event(
                        "cut",
                        "purchase.expired",
                        "purchase/app_store/1",
                        data: #"{"transactionId":"1.1"}"#,
                        time: Sample.day(5)
                    )
                )
            )
            #expect(try restore(999_999) == .recorded(sequence: 10, size: 12))
        }
    }

    @Test func `refuses what is beyond its limit, and takes the rest`() async throws {
        try await ScratchLedger.with { scratch in
            let known = SampleTransaction.make()
            let outcomes = try scratch.ledger.appender.restore(
                Array(repeating: known, count: Appender.restoreLimit + 2),
                for: "ann",
                Self.request("r")
            )
            #expect(outcomes.count == Appender.restoreLimit + 2)
            let refused = outcomes.filter { if case .refused = $0 { true } else { false } }
            #expect(refused.count == 2)
            #expect(outcomes.first == .recorded(sequence: 0, size: 4))
            #expect(try scratch.ledger.appender.restore([], for: "ann", Self.request("e")).isEmpty)
        }
    }
}
