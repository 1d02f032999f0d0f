import Dispatch
import EntitlementLedger
import EventLog
import LMDBStorage
import Synchronization

/// Erasure on one machine of a cluster: who leads changes the cluster's keys, the others follow.
extension ClusterNode {
    /// Takes over what an erasure changed in the vault: whoever is asked from here on opens it no more.
    func followErasure(to generation: UInt64) throws {
        let vault = open.directory.vault
        guard generation > vault.generation else {
            throw JournalFault(.otherHistory, "the cluster's keys are older than this machine's")
        }
        // A batch whose streams stand here may have failed to get into the log: they are sealed anew, too.
        follower.note(vaultPosition: try open.directory.vaultPosition())
        let rotation = try journal.rotation(
            since: vault.generation,
            below: follower.vaultPosition
        )
        try open.ledger.appender.follow { try vault.takeOver(rotation) }
        try open.ledger.eraser.forgetSealed()
        // Who erases waits to hear of it.
        state.withLock { $0.lookedAt = .min }
    }

    /// Answers nothing about whom an erasure takes that is half done: its event was followed before this began.
    func closeNoted() throws {
        // Asked here first: what the database refuses is no damage of this machine's copy.
        guard try log.standingNote() != nil,
            let noted = try open.directory.vault.notedErasure()
        else { return }
        try open.ledger.eraser.close(noted)
    }

    /// Finishes what who led before left half done; where it fails it is tried again with the next renewal.
    func resumeErasure() throws {
        try open.ledger.eraser.resume()
        state.withLock { $0.mayOweErasure = false }
    }

    /// Has the database give up, behind whoever asks, what erasures replaced since this node began; it comes to
    /// it by itself, too.
    func vacuumBehind() {
        let generation = open.directory.vault.generation
        let isDue = vacuumed.withLock { vacuumed in
            defer { vacuumed = generation }
            return vacuumed < generation
        }
        guard isDue else { return }
        let journal = journal
        DispatchQueue.global(qos: .utility).async {
            // A role that may not leaves it to the database.
            try? journal.vacuum()
        }
    }
}
