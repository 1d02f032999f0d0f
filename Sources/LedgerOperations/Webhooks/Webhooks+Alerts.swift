import Encodings
package import Entitlements
import LMDBStorage
package import LedgerAPI

/// What is the matter with what the ledger watches, as it is told and kept.
extension Webhooks {
    /// The alerts that stood when something was kept last.
    ///
    /// - Throws: `LogStorageFault`.
    package func standingAlerts() throws -> [LedgerAlert] {
        guard let bytes = try store.standingAlerts() else { return [] }
        // What cannot be read is none of this version's: what is the matter is found again.
        let kept = (try? JSONValue(parsing: bytes))?.array ?? []
        return kept.compactMap { alert in
            // The same of each.
            try? LedgerAlert.fields.read(alert)
        }
    }

    /// Whether this machine tells which alerts begin or are over.
    package var tellsAlerts: Bool { share?.isLeading ?? true }

    /// Tells those who want to know which alerts begin or are over, and keeps which stand: both or neither, and
    /// neither on a machine of a cluster that does not lead.
    ///
    /// - Throws: `LogStorageFault`.
    package func tell(
        _ changes: [LedgerAlert],
        standing: [LedgerAlert],
        at now: Instant
    ) throws {
        guard let share else { return try note(changes, standing: standing, at: now) }
        try share.whileLeading { try note(changes, standing: standing, at: now) }
    }

    private func note(
        _ changes: [LedgerAlert],
        standing: [LedgerAlert],
        at now: Instant
    ) throws {
        let told = try store.endpointBytes().compactMap { try Self.webhook($0.bytes) }
        let kept = JSONValue.array(standing.map { .object(LedgerAlert.fields.members(of: $0)) })
        try store.note(
            alerts: Array(kept.description.utf8),
            changes.map { Notice($0, at: now) }.wanted(by: told).map(\.bytes),
            at: now.milliseconds
        )
    }
}
