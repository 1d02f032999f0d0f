import Encodings
import EntitlementLedger
import Entitlements
import LedgerOperations

/// Whether the ledger can be asked, and why not.
struct Readiness: Sendable {
    /// Why not, in words of a closed set; empty: it can.
    var reasons: [String] = []
    /// The log's size; nil where it cannot be read.
    var size: UInt64?

    /// The reason where an audit found a fault; the others but `alone` are the ledger's impediments.
    static let audit = "audit"
    /// The reason of a machine that heard nothing of its cluster for longer than it may answer alone.
    static let alone = "alone"

    /// Every reason that there is.
    static let allReasons = Impediment.allCases.map(\.rawValue) + [audit, alone]

    var isReady: Bool { reasons.isEmpty }

    /// `{"status","reasons"}`.
    var json: JSONValue {
        .members([
            "status": .string(isReady ? "ready" : "not_ready"),
            "reasons": .strings(reasons),
        ])
    }
}

extension LedgerService {
    /// Looks whether the ledger can be asked.
    func readiness() async -> Readiness {
        let (found, size) =
            // Whatever the error is, nothing is answered: that is what is said.
            (try? await blocking { [ledger] in
                // An impediment names what hinders the size.
                (ledger.auditor.impediments(), try? ledger.questions.size())
            })
            ?? ([.storage], nil)
        var impediments = Set(found)
        if isReadOnlyByFault { impediments.insert(.readOnly) }
        var reasons = Impediment.allCases.filter(impediments.contains).map(\.rawValue)
        if !metrics.audits.areSound { reasons.append(Readiness.audit) }
        if cluster?.endReason == .solitude { reasons.append(Readiness.alone) }
        return Readiness(reasons: reasons, size: size)
    }
}
