package import Encodings
import EventLog
import LMDBStorage
import Synchronization

/// Files that all nodes hold in common beside log and vault: whoever changes one changes it everywhere.
extension ClusterNode {
    /// How often they are looked at, milliseconds.
    private static let lookInterval: Int64 = 1000

    /// Takes over what was changed, and checkpoints; says that this node is there, and reads of the others.
    func lookAtCommonFiles() throws {
        let now = now
        let isDue = state.withLock { state in
            guard now - Self.lookInterval >= state.lookedAt else { return false }
            state.lookedAt = now
            return true
        }
        guard isDue else { return }
        try CommonFiles.meet(at: open.directory.path, in: journal)
        if !isLeading { try log.followCheckpoints() }
        try journal.note(
            ClusterMember(
                name: self.name,
                address: address,
                size: open.directory.log.end().size,
                generation: open.directory.vault.generation
            )
        )
        let members = try journal.members()
        state.withLock { $0.members = (members, now) }
    }

    /// Changes such a file for all machines, in the order of whoever changes it.
    ///
    /// May block for the journal. `body`: as for ``CommonFiles``.
    ///
    /// - Throws: as ``CommonFiles``.
    package func changeCommonFile(_ name: Name, _ body: ([UInt8]?) throws -> [UInt8]) throws {
        try CommonFiles.change(name, at: open.directory.path, in: journal, body)
    }
}
