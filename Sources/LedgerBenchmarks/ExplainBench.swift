import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import StoreSimulator

/// Explanations in process, each beside the state that it explains (row Z2).
struct ExplainBench {
    let plan: BenchPlan

    private static let eventLimit = 100_000
    private static let referenceName = "the state at the same point, of the same customer"

    /// Explanations at random (T, R) about customers with so many events each.
    func rows(steps: Int) throws -> [BenchRow] {
        let (bench, events) = try plan.filledLedger(
            steps: steps,
            about: min(plan.events, Self.eventLimit)
        )
        let size = try bench.ledger.questions.size()
        let operations = plan.isQuick ? 1_000 : 5_000
        let span = Int64(steps) * 20 * Instant.millisecondsPerDay
        let headings = [("", " p50"), ("-p99", " p99")].map { suffix, quantile in
            BenchHeading(
                "explain-\(steps)\(suffix)",
                unit: "µs" + quantile,
                against: Self.referenceName
            )
        }
        let rows = try plan.rows(headings) { run in
            var random = SeededWords(seed: UInt64(run))
            var (ours, theirs) = (Samples(), Samples())
            for number in 0..<operations {
                let question = Self.question(about: events, span, size, &random)
                var access: FeatureAccess?
                var answer = FeatureExplanation.unknownFeature(near: [])
                func ask() throws {
                    theirs.add(
                        try Stopwatch.nanoseconds {
                            access = try bench.ledger.questions.accessAnswer(
                                BenchCatalog.feature,
                                question
                            )
                            .access
                        }
                    )
                }
                // Whoever comes first reads records that the other finds in the cache.
                if number.isMultiple(of: 2) { try ask() }
                ours.add(
                    try Stopwatch.nanoseconds {
                        answer = try bench.ledger.questions.explain(BenchCatalog.feature, question)
                    }
                )
                if !number.isMultiple(of: 2) { try ask() }
                guard case .explained(let explanation) = answer else {
                    try requireRight(false, "every catalog lists the feature")
                    continue
                }
                try requireRight(explanation.access == access, "it explains the decision")
            }
            return [0.5, 0.99].map { share in
                BenchRun(
                    value: ours.percentile(share) / 1000,
                    reference: theirs.percentile(share) / 1000
                )
            }
        }
        try bench.discard()
        return rows
    }

    /// A question about anybody, at any time of a span, as known after any event.
    private static func question(
        about events: BenchEvents,
        _ span: Int64,
        _ size: UInt64,
        _ random: inout SeededWords
    ) -> CustomerQuestion {
        CustomerQuestion(
            customer: BenchStory(customer: Int.random(in: 0..<events.customers, using: &random)).id,
            environment: .production,
            point: BitemporalPoint(
                at: BenchStory.start.advanced(
                    byMilliseconds: Int64.random(in: 0..<span, using: &random)
                ),
                knownAt: .sequence(UInt64.random(in: 1...size, using: &random))
            )
        )
    }
}
