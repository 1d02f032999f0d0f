import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import Testing

/// What a restore would do, before it is made (rows 6.3, CL2).
struct `A restore that is only tried` {
    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.app, environment: .production)
    }

    private static func with(
        policy: String,
        _ body: (ScratchLedger) async throws -> Void
    ) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                try Sample.catalog(policy: policy),
                effective: Sample.newYear,
                request("catalog")
            )
            try await body(scratch)
        }
    }

    /// Of ann's purchase two periods, one of them known; one that nobody knows, twice; one of cy's.
    private static let transactions = [
        SampleTransaction.make("1"), SampleTransaction.make("1", transaction: 2),
        SampleTransaction.make("2"), SampleTransaction.make("2"), SampleTransaction.make("3"),
    ]

    // E4: decided as it would be, and then done the same: the control.
    @Test(arguments: ["keep", "transfer"])
    func `says what the restore then does, and from whom it takes`(
        _ policy: String
    ) async throws {
        try await Self.with(policy: policy) { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.claim(
                Self.transactions[0],
                for: "ann",
                Self.request("a")
            )
            _ = try ledger.appender.claim(Self.transactions[4], for: "cy", Self.request("c"))
            // Under keep cy is bob by another name (C2), under transfer somebody else's.
            let name: CustomerID = policy == "keep" ? "bob" : "eve"
            _ = try ledger.appender.link("cy", to: name, Self.request("l"))
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 1000)
            let (size, root) = try (ledger.questions.size(), ledger.auditor.audit().rootHash)
            let planned = try ledger.plannedRestore(
                Self.transactions,
                for: "bob",
                Self.request("r")
            )
            #expect(try ledger.questions.size() == size)
            #expect(try ledger.auditor.audit().rootHash == root)
            let done = try ledger.appender.restore(
                Self.transactions,
                for: "bob",
                Self.request("r")
            )
            #expect(planned.map(\.outcome) == done)
            #expect(planned.map(\.moves) == planned.map { $0.formerOwner != nil })
            if policy == "keep" {
                #expect(planned.allSatisfy { !$0.moves })
                guard case .refused(let refusal, "ann") = planned[0].outcome else {
                    Issue.record("\(planned[0])")
                    return
                }
                #expect(refusal.code == .claimedByAnother)
            } else {
                #expect(planned.compactMap(\.formerOwner) == ["ann", "ann", "eve"])
            }
        }
    }

    // Neither a note of the refusal nor the sync state of what is known (Stores, rule 7; row 6.3)
    @Test func `leaves no note, no sync state and no name`() async throws {
        try await Self.with(policy: "keep") { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.claim(Self.transactions[0], for: "ann", Self.request("a"))
            let size = try ledger.questions.size()
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 86_400_000)
            for customer in ["ann", "bob"] as [CustomerID] {
                _ = try ledger.plannedRestore(
                    Self.transactions,
                    for: customer,
                    Self.request("r")
                )
            }
            #expect(try ledger.questions.size() == size)
            // The control: made, both leave what is known to be left.
            for customer in ["ann", "bob"] as [CustomerID] {
                _ = try ledger.appender.restore(
                    [Self.transactions[0]],
                    for: customer,
                    Self.request("r-\(customer)")
                )
            }
            let kinds = try (size..<ledger.questions.size()).map {
                try #require(try ledger.questions.event(at: $0)).event.kind
            }
            #expect(kinds == [.syncCompleted, .signalNoted, .signalNoted])
        }
    }

    @Test func `sees what was recorded just now, and waits for nobody`() async throws {
        try await Self.with(policy: "keep") { scratch in
            let ledger = scratch.ledger
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<16 {
                    group.addTask {
                        let transaction = SampleTransaction.make("p\(index)")
                        let request = Self.request("r\(index)")
                        let first = try ledger.plannedRestore([transaction], for: "ann", request)
                        _ = try ledger.appender.restore([transaction], for: "ann", request)
                        let other = Self.request("b\(index)")
                        let then = try ledger.plannedRestore([transaction], for: "bob", other)
                        guard case .recorded = first[0].outcome,
                            case .refused(_, "ann") = then[0].outcome
                        else {
                            Issue.record("\(first) \(then)")
                            return
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try ledger.auditor.audit().isOK)
        }
    }
}
