import EntitlementLedger
import Entitlements

/// Whether the ledger can be asked, and why not.
struct Readiness: Sendable {
    /// Why not; empty: it can.
    var reasons: [Reason] = []
    /// Of the log; nil where it cannot be read.
    var size: UInt64?

    /// A closed set: its words stand in answers.
    enum Reason: String, Sendable {
        /// The log cannot be read.
        case storage
    }

    var isReady: Bool { reasons.isEmpty }

    /// `{"status","reasons"}`.
    var json: JSONValue {
        .members([
            "status": .string(isReady ? "ready" : "not_ready"),
            "reasons": .strings(reasons.map(\.rawValue)),
        ])
    }
}

extension LedgerService {
    /// Looks whether the ledger can be asked.
    func readiness() async -> Readiness {
        do {
            return Readiness(size: try await blocking { [ledger] in try ledger.size() })
        } catch {
            return Readiness(reasons: [.storage])
        }
    }
}
