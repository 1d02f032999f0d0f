import EntitlementLedger
import Entitlements
import ModelSupport
import Testing

@Suite("Access now") struct AccessTableTests {
    // Row 4.3, law 8: the table only remembers what the fold says.
    @Test func `is what the state says, however often and between whatever appends`() async throws {
        for seed: UInt64 in 1...25 {
            let history = RandomHistory(seed: seed, questions: 8)
            let customers = Set(history.questions.map(\.customer)).sorted()
            // A clock in the midst of the history, which advances with the appends.
            let clock = TestClock(Instant(milliseconds: 1_790_000_000_000))
            try await ScratchLedger.with(clock: clock) { scratch in
                var random = SplitMix64(seed: seed)
                for recorded in history.log {
                    _ = try scratch.ledger.record(Submission(event: recorded.event))
                    clock.now = clock.now.advanced(
                        byMilliseconds: .random(in: 0...40_000, using: &random)
                    )
                    try compare(scratch, customers: customers, seed: seed)
                }
                try scratch.reopen()
                try compare(scratch, customers: customers, seed: seed)
                try compare(scratch, customers: customers, seed: seed)
            }
        }
    }

    private func compare(
        _ scratch: ScratchLedger,
        customers: [String],
        seed: UInt64
    ) throws {
        let point = BitemporalPoint(at: scratch.clock.now, knownAt: .everything)
        for customer in customers {
            let state = try scratch.ledger.show(
                CustomerQuestion(customer: customer, environment: .production, point: point)
            )
            for feature in state["features"]?.members ?? [] {
                let isAllowed = try scratch.ledger.can(
                    customer,
                    feature.name,
                    environment: .production,
                    at: point.at
                )
                #expect(
                    isAllowed == feature.value["allowed"]?.bool,
                    "\(customer) \(feature.name) seed \(seed)"
                )
            }
            let unknown = try scratch.ledger.can(
                customer,
                "no such",
                environment: .production,
                at: point.at
            )
            #expect(!unknown)
        }
    }
}
