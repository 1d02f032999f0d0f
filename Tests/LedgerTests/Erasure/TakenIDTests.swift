import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import Stores
import Testing

/// An erasure of several events, each under an id of its own (E1, C6).
struct `An erasure of several events` {
    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.support, environment: .production)
    }

    private static func erase(_ id: String, in scratch: ScratchLedger) throws -> ErasureOutcome {
        try scratch.ledger.eraser.erase(
            ["ann", "bob"],
            request(id),
            reading: StoredEvidenceNames()
        )
    }

    // Its second event would stand under an id that says something else.
    @Test func `is refused, and forgotten, where the id of a later one is taken`() async throws {
        try await ScratchLedger.with { scratch in
            let appender = try scratch.ledger.appender
            _ = try appender.link("phone", to: "ann", Self.request("l1"))
            _ = try appender.link("tablet", to: "bob", Self.request("l2"))
            let taken = try scratch.ledger.questions.size()
            _ = try appender.link("desk", to: "cy", Self.request("e#2"))
            for _ in 0..<2 {
                guard case .refused(let refusal) = try Self.erase("e", in: scratch) else {
                    Issue.record("an id stands for two events")
                    return
                }
                #expect(refusal.code == .conflict)
                #expect(refusal.detail.contains("event \(taken)"))
                #expect(try scratch.ledger.questions.size() == taken + 1)
                // At once: who made a cluster of it would be refused until the next opening.
                #expect(scratch.directory.vault.preparedErasure == nil)
                try scratch.reopen()
            }
            guard case .erased(let receipt) = try Self.erase("again", in: scratch) else {
                Issue.record("what was refused stands in the way")
                return
            }
            #expect(receipt.sequence == taken + 1)
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
        }
    }
}
