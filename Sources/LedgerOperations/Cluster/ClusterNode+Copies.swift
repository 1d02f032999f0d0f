import DurableFiles
import EventLog
import LMDBStorage
import Synchronization

/// Backups and exports that a node made: it tells the others, whose erasures name them (Several machines).
extension ClusterNode {
    /// What a node said of its copies.
    struct ToldCopies {
        /// Of what it said so; nil: of nothing yet.
        var lists: CopyLists?
        /// As the cluster holds it; nil: it holds nothing.
        var held: [UInt8]?
    }

    /// The files in which a directory lists copies, and how far its node follows erasures.
    struct CopyLists: Equatable {
        private var backups: FileVersion?
        private var exports: FileVersion?
        fileprivate var generation: UInt64

        fileprivate init(of directory: OpenLedgerDirectory) throws {
            backups = try DurableFile.version(of: directory.path + "/" + BackupList.fileName)
            exports = try DurableFile.version(
                of: directory.path + "/" + LedgerDirectory.exportsName
            )
            generation = directory.vault.generation
        }
    }

    /// Milliseconds for which a database that did not take it is left alone: it may be waited for each time.
    private static let untoldInterval: Int64 = 60_000

    /// Tells the others of copies, where that changed; where the database takes no change now, later.
    ///
    /// Nobody erases meanwhile: this node goes on following, and says that it is there.
    func tellCopies() throws {
        let generation = open.directory.vault.generation
        // An erasure that was followed since shows that it takes changes again.
        if let untold = state.withLock(\.untold), untold.generation == generation,
            now - untold.at < Self.untoldInterval
        {
            return
        }
        do {
            try tellChangedCopies()
            state.withLock { $0.untold = nil }
        } catch let fault as JournalFault where !fault.isLasting {
            let failedAt = now
            state.withLock { state in
                let said = state.untold?.said ?? state.told?.lists?.generation
                state.untold = (failedAt, generation, said ?? generation)
            }
        }
    }

    /// The generation of keys that this node says it has: who hears that it followed an erasure looks at what it
    /// said of its copies.
    var saidGeneration: UInt64 {
        let generation = open.directory.vault.generation
        return min(generation, state.withLock(\.untold)?.said ?? generation)
    }

    private func tellChangedCopies() throws {
        var told = try state.withLock(\.told) ?? takeUpCopies()
        // Backups may stand on a slow disk: they are looked at only where something changed.
        let lists = try CopyLists(of: open.directory)
        guard lists != told.lists else { return }
        // What cannot be read is named as such.
        let copies = (try? MachineCopies(ofLedgerAt: open.directory.path)) ?? .unread
        if told.held != nil || !copies.isEmpty {
            let sealed = try copies.sealed(by: open.directory.vault.copiesSeal, of: name)
            guard try journal.hold(sealed, as: copiesName, insteadOf: told.held) else {
                // The answer to an earlier call was lost.
                return state.withLock { $0.told = nil }
            }
            told.held = sealed
        }
        told.lists = lists
        state.withLock { [told] in $0.told = told }
    }

    private var copiesName: String { ClusterMember.copiesName(of: name) }

    /// Lists again what a directory before this one listed, which is gone.
    private func takeUpCopies() throws -> ToldCopies {
        guard let held = try journal.held(copiesName) else { return ToldCopies() }
        let seal = open.directory.vault.copiesSeal
        // What opens no more, or was not read there, is replaced by what stands here.
        if let copies = try? MachineCopies(opening: held, by: seal, of: name), copies != .unread {
            do {
                try copies.list(inLedgerAt: open.directory.path)
            } catch let fault as LedgerOpenFault where fault.code == .damaged {
                // Its own list, which is named in the place of all that stood in it.
            }
        }
        return ToldCopies(held: held)
    }

    /// Lists what other machines made: the ledger goes on here alone.
    func listCopiesOfOthers() throws {
        for copies in try open.directory.vault.copiesOfOthers() {
            try copies.list(inLedgerAt: open.directory.path)
        }
    }
}
