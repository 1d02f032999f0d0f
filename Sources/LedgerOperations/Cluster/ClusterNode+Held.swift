import DurableFiles
import Encodings
import EventLog
import LMDBStorage
import Synchronization

/// Files that all nodes hold in common beside log and vault: whoever changes one changes it everywhere.
extension ClusterNode {
    /// Their names in a ledger's directory: the digests of API keys.
    private static let fileNames: [Name] = ["keys.json"]
    /// How often they are looked at, milliseconds.
    private static let lookInterval: Int64 = 1000

    /// Takes over what other nodes changed, tells them what was changed here, says that this node is there,
    /// and takes over checkpoints.
    func lookAtCommonFiles() throws {
        let now = now
        let isDue = state.withLock { state in
            guard now - Self.lookInterval >= state.lookedAt else { return false }
            state.lookedAt = now
            return true
        }
        guard isDue else { return }
        for name in Self.fileNames { try share(name) }
        if !isLeading { try log.followCheckpoints() }
        try journal.note(
            ClusterMember(
                name: self.name,
                address: address,
                size: open.directory.log.end().size,
                generation: open.directory.vault.generation
            )
        )
    }

    private func share(_ name: Name) throws {
        let place = open.directory.path + "/" + name.text
        let own = try DurableFile.read(place)
        let common = try journal.held(name.text)
        let known = state.withLock { $0.held[name] }
        if own == common {
            state.withLock { $0.held[name] = own }
        } else if let own, common == known, try journal.hold(own, as: name.text, insteadOf: common)
        {
            // Changed here since all were the same, or never shared.
            state.withLock { $0.held[name] = own }
        } else if let common {
            // Changed elsewhere, or in both places: the first that was told counts.
            try DurableFile.replace(place, with: common)
            state.withLock { $0.held[name] = common }
        }
    }
}
