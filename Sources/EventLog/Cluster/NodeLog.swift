import Synchronization

/// The log of one machine of a cluster: everything is read from its own files, and appended by way of the
/// cluster's journal while this node leads.
package final class NodeLog: OwnFilesLog {
    /// See `OwnFilesLog`.
    package let own: any LogStorage
    private let name: String
    private let contents: any ClusterContents
    private let leader = Mutex<LeaderLog?>(nil)
    private let appended: @Sendable () -> Void
    /// The last checkpoints that were taken over, ascending by size; nil: none was yet.
    private let recent = Mutex<ArraySlice<(size: UInt64, note: String)>?>(nil)
    /// Of how many checkpoints it is looked up whether witnesses added something; older ones are
    /// taken over once.
    private static let followed = 16

    /// Follows, until it is told to lead.
    ///
    /// `name`: this node's. `contents`: where checkpoints stand for every node. `appended`: told behind each
    /// commit of this node; must not block.
    package init(
        named name: String,
        over own: any LogStorage,
        keepingIn contents: any ClusterContents,
        appended: @escaping @Sendable () -> Void
    ) {
        self.name = name
        self.own = own
        self.contents = contents
        self.appended = appended
    }

    /// Appends by a leader from now on.
    package func lead(by log: LeaderLog) { leader.withLock { $0 = log } }

    /// Appends nothing any more.
    package func follow() { leader.withLock { $0 = nil } }

    /// What it leads by; nil: another node leads, or none.
    package var leading: LeaderLog? { leader.withLock { $0 } }

    private var leads: LeaderLog {
        get throws {
            guard let leading else { throw Self.noLeader }
            return leading
        }
    }

    private static let noLeader = LogStorageFault(.noLeader, "this node does not lead the cluster")

    /// See `LogStorage`: durable on two machines when this returns.
    ///
    /// - Throws: `LogStorageFault.noLeader` where another node leads, or none: nothing stands then.
    package func append(_ batch: LogBatch) throws -> LogEnd {
        let end = try leads.append(batch)
        appended()
        return end
    }

    /// See `LogStorage`.
    package func reopen() throws {
        guard let leading, leading.isLeading else { return try own.reopen() }
        try leading.reopen()
        appended()
    }

    /// See `LogStorage`: for every node.
    package func keepCheckpoint(size: UInt64, note: String) throws {
        _ = try leads
        try contents.keep(checkpoint: size, note: note)
        try own.keepCheckpoint(size: size, note: note)
    }

    /// Takes over checkpoints that another node has signed, and what witnesses added to the last of them.
    package func followCheckpoints() throws {
        let end = try own.end().size
        try recent.withLock { recent in
            var known = try recent ?? own.checkpoints().suffix(Self.followed)
            for checkpoint in try contents.checkpoints(from: known.first?.size ?? 0)
            where checkpoint.size <= end {
                let place = known.lastIndex { $0.size <= checkpoint.size }
                if let place, known[place].size == checkpoint.size {
                    guard known[place].note != checkpoint.note else { continue }
                    known[place].note = checkpoint.note
                } else {
                    known.insert(checkpoint, at: place.map { $0 + 1 } ?? 0)
                }
                try own.keepCheckpoint(size: checkpoint.size, note: checkpoint.note)
            }
            recent = known.suffix(Self.followed)
        }
    }

    /// See `LogStorage`: by the node that leads, and no evidence, as the journal's batches stay as they are.
    package func requireErasable(evidence: Bool) throws {
        _ = try leads
        guard !evidence else {
            throw LogStorageFault(
                .notInCluster,
                "evidence of a program before 0.6 names them, and is not deleted from a cluster"
            )
        }
    }
}

extension NodeLog: ErasureJournal {
    /// What all nodes hold in common under this name.
    private static let noteName = "erasure"

    /// See `ErasureJournal`.
    package func vaultKeys() throws -> [UInt8] { try asking { try contents.keys().bytes } }

    /// See `ErasureJournal`.
    package func erasureNote() throws -> [UInt8]? { try asking { try standingNote() } }

    /// The same, of a journal whose refusal is said to be its own.
    ///
    /// - Throws: `JournalFault`.
    package func standingNote() throws -> [UInt8]? {
        try contents.held(Self.noteName).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// See `ErasureJournal`: one that is forgotten is empty.
    package func replaceErasureNote(_ known: [UInt8]?, by note: [UInt8]?) throws {
        _ = try leads
        try asking {
            // It was never held before the first.
            let standing = try contents.held(Self.noteName)
            // It went already, and the answer that said so was lost.
            if note == nil, standing?.isEmpty ?? true { return }
            guard standing?.isEmpty ?? true ? known == nil : standing == known,
                try contents.hold(note ?? [], as: Self.noteName, insteadOf: standing)
            else { throw LogStorageFault(.busy, "another erasure is not finished") }
        }
    }

    /// See `ErasureJournal`.
    package func otherMembers() throws -> [ClusterMember] {
        try asking { try contents.members().filter { $0.name != name } }
    }

    /// See `ErasureJournal`.
    package func copiesOfOthers() throws -> [(machine: String, sealed: [UInt8])] {
        try asking { try contents.copies(but: name) }
    }

    /// See `ErasureJournal`.
    package func keepersOfReplaced() throws -> [String] {
        try asking { try contents.keepersOfReplaced() }
    }

    private func asking<Answer>(_ body: () throws -> Answer) throws -> Answer {
        do { return try body() } catch let fault as JournalFault { throw LogStorageFault(fault) }
    }

    /// See `ErasureJournal`.
    package func rotate(
        _ rotation: VaultRotation,
        of position: UInt64,
        insteadOf known: [UInt8],
        _ own: () throws -> Void
    ) throws {
        try leads.rotate(rotation, of: position, insteadOf: known, own)
        appended()
    }
}
