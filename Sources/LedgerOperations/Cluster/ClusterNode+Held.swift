package import Encodings
import EntitlementLedger
import EventLog
import LMDBStorage
import Synchronization

/// Files that all nodes hold in common beside log and vault: whoever changes one changes it everywhere.
extension ClusterNode {
    /// How often they are looked at, milliseconds.
    private static let lookInterval: Int64 = 1000

    /// Takes over what was changed, and checkpoints; says that this node is there, and reads of the others.
    func lookAtCommonFiles() throws {
        guard let now = isDueToLook() else { return }
        // A key that was revoked is not taken back from a database that was restored.
        try CommonFiles.meet(at: open.directory.path, in: journal, confirm: requireNothingLost)
        if !isLeading { try log.followCheckpoints() }
        finishFollowing()
        // First: who hears that this node followed an erasure looks at what it said of its copies.
        try tellCopies()
        try meetOthers(at: now)
    }

    /// Destroys keys of before that stand in this node's files yet, as where its disk was full when it followed an
    /// erasure; until then it says that it has not followed.
    private func finishFollowing() {
        let vault = open.directory.vault
        guard vault.followedGeneration < vault.generation else { return }
        do {
            try open.ledger.eraser.forgetSealed()
            try vault.forgetReplacedKeys()
        } catch {
            // Whoever erases names this node: it is tried again with the next look.
            return
        }
        // It says anew how far its backups are.
        state.withLock { $0.told?.lists = nil }
    }

    /// Says, where the cluster's database lacks what this node has, how far it is: nobody who sees that leads, and
    /// whoever checks the cluster finds whose copy has most.
    func tellOthers() {
        guard let now = isDueToLook() else { return }
        // Said again a moment later.
        try? meetOthers(at: now)
    }

    /// Makes sure that the cluster's database has all that this node has.
    ///
    /// - Throws: `JournalFault`: `otherHistory` where it has not.
    private func requireNothingLost() throws {
        guard try hasLostSomething() else { return }
        throw JournalFault(.otherHistory, "the cluster's database lacks what this node has")
    }

    /// Whether the cluster's database lost something that this node has.
    func hasLostSomething() throws -> Bool {
        let directory = open.directory
        // Read first: whatever this node has stands in a database that lost nothing, which goes on meanwhile.
        let (size, generation) = (try directory.log.end().size, directory.vault.generation)
        return try journal.row().end.lacks(size, generation: generation)
    }

    /// Makes sure that no machine knows more than the cluster's database: who led would record something else at
    /// places that were confirmed.
    ///
    /// - Throws: `JournalFault`: `otherHistory` where one does.
    func requireNobodyBeyond() throws {
        // Read first, as above.
        let members = try journal.members()
        let end = try journal.row().end
        guard let first = members.first(where: { end.lacks($0.size, generation: $0.generation) })
        else { return }
        throw JournalFault(
            .otherHistory,
            "the machine \(first.name) has \(first.size) events, the cluster's database \(end.size)"
        )
    }

    /// When it is now, where a moment has passed since it looked last.
    private func isDueToLook() -> Int64? {
        let now = now
        return state.withLock { state in
            guard now - Self.lookInterval >= state.lookedAt else { return nil }
            state.lookedAt = now
            return now
        }
    }

    private func meetOthers(at now: Int64) throws {
        // Anew, where the connection is another one; who has it meanwhile began behind this one.
        _ = try journal.holdName(name)
        let told = state.withLock { state in
            defer { state.told = nil }
            return state.told
        }
        let isNew = try journal.note(
            ClusterMember(
                name: self.name,
                address: address,
                size: open.directory.log.end().size,
                generation: min(saidGeneration, open.directory.vault.followedGeneration)
            )
        )
        if isNew {
            // It may have been forgotten, with what it had said of its copies.
            try tellCopies()
        } else {
            state.withLock { $0.told = told }
        }
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
