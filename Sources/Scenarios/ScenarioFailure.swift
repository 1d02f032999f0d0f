package import EntitlementLedger
import Entitlements
import LedgerAPI

/// What does not hold.
package struct ScenarioFailure: Sendable, Hashable {
    /// Which expectation, from 0 on.
    package var expectation: Int
    /// What was expected, and what was found.
    package var detail: String
}

extension Scenario {
    /// What does not hold in a ledger.
    ///
    /// `delivery`: how it was told. `isRecordedThen`: whether it was told at the scenario's own times; else
    /// nothing was known at any R of it.
    package func failures(
        in ledger: Ledger,
        after delivery: ScenarioDelivery,
        isRecordedThen: Bool = true
    ) throws -> [ScenarioFailure] {
        var failures: [ScenarioFailure] = []
        let isLate = !delivery.isOrderly && steps.contains { !$0.store.tellsFacts }
        for (index, expected) in expectations.enumerated() {
            // What was known meanwhile depends on when messages came.
            if expected.known != nil, !delivery.isOrderly || !isRecordedThen { continue }
            if !expected.isFetched, delivery.isLossy || isLate { continue }
            let shown = try ledger.questions.show(
                CustomerQuestion(
                    customer: expected.customer,
                    environment: .production,
                    point: BitemporalPoint(
                        at: expected.at,
                        knownAt: expected.known.map { .instant($0) } ?? .everything
                    )
                )
            ).answer.state
            let status = shown.purchases.first?.status.rawValue ?? "none"
            if shown.tier != expected.tier {
                failures.append(
                    ScenarioFailure(
                        expectation: index,
                        detail: "tier \(shown.tier), expected \(expected.tier)"
                    )
                )
            } else if let wanted = expected.status, wanted != status, !delivery.isLossy, !isLate {
                failures.append(
                    ScenarioFailure(
                        expectation: index,
                        detail: "status \(status), expected \(wanted)"
                    )
                )
            }
        }
        return failures
    }
}
