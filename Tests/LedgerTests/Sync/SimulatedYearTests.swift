import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Scenarios
import Testing

/// The customers of a demonstration.
struct `A simulated year` {
    private static func size(_ seed: UInt64) async throws -> (size: UInt64, tiers: [String]) {
        let now = Sample.day(400)
        return try await ScratchLedger.with(clock: TestClock(now)) { scratch in
            let year = SimulatedYear(
                customers: 60,
                until: now,
                seed: seed,
                authority: try ScenarioRun.authority(around: now)
            )
            let count = try await year.record(in: scratch.ledger)
            #expect(count > 60)
            let tiers = try (1...60).map { number in
                let state = try scratch.show(SimulatedYear.customer(number), at: now)
                return state["tier"]?.string ?? ""
            }
            // What was recorded last year was known last year.
            let past = Sample.day(200)
            let size = try scratch.ledger.questions.prefix(knownAt: .instant(past))
            let whole = try scratch.ledger.questions.size()
            #expect(size > 61 && size < whole)
            let audit = try scratch.ledger.auditor.audit()
            #expect(audit.faults.isEmpty)
            return (whole, tiers)
        }
    }

    @Test func `has customers of each kind, by its seed`() async throws {
        let first = try await Self.size(1)
        #expect(Set(first.tiers) == ["free", "pro", "plus"])
        let again = try await Self.size(1)
        #expect(first.size == again.size && first.tiers == again.tiers)
        let other = try await Self.size(2)
        #expect(first.tiers != other.tiers)
    }
}
