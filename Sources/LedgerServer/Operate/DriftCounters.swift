import EntitlementLedger
import Entitlements
import LedgerAPI
import Synchronization

/// What drift checks came to since the server began.
final class DriftCounters: Sendable {
    private let state = Mutex(State())

    private struct State {
        var checks: [Outcome: UInt64] = [:]
        var customers: UInt64 = 0
        var differences: [DriftDifference.Kind: UInt64] = [:]
        var lastAgreedAt: Instant?
    }

    private enum Outcome: String, CaseIterable { case agreed, differed, failed }

    func count(_ report: DriftReport, at now: Instant) {
        state.withLock { state in
            if report.isOK { state.lastAgreedAt = now }
            state.checks[report.isOK ? .agreed : .differed, default: 0] += 1
            state.customers += UInt64(report.customers)
            for difference in report.differences {
                state.differences[difference.kind, default: 0] += 1
            }
        }
    }

    func countFailure() { state.withLock { $0.checks[.failed, default: 0] += 1 } }

    /// Whether a live view was found to say other than the log.
    var hasDiffered: Bool { state.withLock { !$0.differences.isEmpty } }

    /// Appends the families; every sample is there from the start, so that an alert may rest on it.
    func append(to text: inout PrometheusText) {
        let state = state.withLock { $0 }
        text.family("entitle_drift_checks_total", "Drift checks by outcome.", .counter)
        for outcome in Outcome.allCases {
            text.sample(
                "entitle_drift_checks_total",
                [("outcome", outcome.rawValue)],
                state.checks[outcome] ?? 0
            )
        }
        text.family(
            "entitle_last_agreed_drift_check_seconds",
            "When a drift check last found no difference, since the server began.",
            .gauge
        )
        if let instant = state.lastAgreedAt {
            text.sample("entitle_last_agreed_drift_check_seconds", [], instant.wholeSeconds)
        }
        text.family("entitle_drift_customers_total", "Customers folded again.", .counter)
        text.sample("entitle_drift_customers_total", [], state.customers)
        text.family(
            "entitle_drift_differences_total",
            "Customers of whom a live view says other than the log, by view.",
            .counter
        )
        for kind in DriftDifference.Kind.allCases {
            text.sample(
                "entitle_drift_differences_total",
                [("view", kind.rawValue)],
                state.differences[kind] ?? 0
            )
        }
    }
}
