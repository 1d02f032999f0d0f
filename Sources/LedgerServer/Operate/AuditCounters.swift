import EntitlementLedger
import Entitlements
import LedgerAPI
import Synchronization

/// What audits came to since the server began, asked for or its own.
final class AuditCounters: Sendable {
    private let state = Mutex(State())

    private struct State {
        var audits: [AuditScope: [Outcome: UInt64]] = [:]
        /// By kind, of the last audit of each scope.
        var faults: [AuditScope: [AuditFault.Kind: UInt64]] = [:]
        var last: [AuditScope: Audit] = [:]
    }

    /// An audit that was made.
    struct Audit: Sendable {
        /// What was looked at.
        let scope: AuditScope
        /// When it ended.
        let at: Instant
        /// What it found.
        let answer: AuditAnswer
    }

    /// The last audit of each scope, the widest first.
    var last: [Audit] {
        let last = state.withLock { $0.last }
        return AuditScope.allCases.compactMap { last[$0] }
    }

    private enum Outcome: String, CaseIterable { case sound, damaged, failed }

    /// Counts what an audit found.
    ///
    /// A loss that a salvage named is none of the faults: it was known when the server began.
    func count(_ scope: AuditScope, _ answer: AuditAnswer, at now: Instant) {
        let kinds = answer.faults.filter { !$0.isKnown }.map(\.kind)
        state.withLock { state in
            state.last[scope] = Audit(scope: scope, at: now, answer: answer)
            state.audits[scope, default: [:]][kinds.isEmpty ? .sound : .damaged, default: 0] += 1
            // Who looked at everything has looked at what the others look at.
            if scope == .everything { state.faults = [:] }
            state.faults[scope] = kinds.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    func countFailure(_ scope: AuditScope) {
        state.withLock { $0.audits[scope, default: [:]][.failed, default: 0] += 1 }
    }

    /// Whether no audit found a fault that a later one did not find mended.
    var areSound: Bool { state.withLock { $0.faults.values.allSatisfy(\.isEmpty) } }

    /// Appends the families; every sample is there from the start, so that an alert may rest on it.
    func append(to text: inout PrometheusText) {
        let state = state.withLock { $0 }
        text.family("entitle_audits_total", "Audits by scope and outcome.", .counter)
        for scope in AuditScope.allCases {
            for outcome in Outcome.allCases {
                text.sample(
                    "entitle_audits_total",
                    [("scope", "\(scope)"), ("outcome", outcome.rawValue)],
                    state.audits[scope]?[outcome] ?? 0
                )
            }
        }
        text.family(
            "entitle_audit_faults",
            "Faults that the last audits found, by what they are of.",
            .gauge
        )
        for kind in AuditFault.Kind.allCases {
            text.sample(
                "entitle_audit_faults",
                [("kind", kind.rawValue)],
                state.faults.values.map { $0[kind] ?? 0 }.max() ?? 0
            )
        }
    }
}
