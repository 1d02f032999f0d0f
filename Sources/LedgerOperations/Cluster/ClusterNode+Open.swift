import Dispatch
import DurableFiles
package import EventLog
import LMDBStorage

extension ClusterNode {
    /// Opens a node: its directory is filled where it is empty, and reaches what the cluster had when
    /// this began.
    ///
    /// Leads nothing yet, and follows no more until ``run(isEnded:)``.
    ///
    /// `path`: a directory that has nothing but what is configured, or that a node of this cluster left.
    /// `file`: which node it is. `tell`: told, in a sentence, what takes long.
    ///
    /// - Throws: `JournalFault`, `LedgerOpenFault`, `LogStorageFault`, `OperationFault`.
    package static func open(
        at path: String,
        as file: ClusterFile,
        of journal: any ClusterJournal & ClusterContents,
        options: OpenLedger.Options,
        tell: (String) -> Void
    ) throws -> ClusterNode {
        let row = try journal.row()
        let standing = try manifest(at: path)
        if let standing {
            let held = try LedgerDirectory.manifest(reading: Array(journal.manifest().utf8))
            guard standing.ledger == held.ledger else {
                throw OperationFault(
                    .configuration,
                    "the directory is of another ledger than the cluster's",
                    place: path,
                    hint: "name a directory that is empty but for \(ClusterFile.name) and the key"
                )
            }
            guard LedgerDirectory.isNode(at: path) else {
                throw OperationFault(
                    .notEmpty,
                    "a ledger stands there that is no copy of the cluster's",
                    place: path,
                    hint: "name a directory that is empty but for \(ClusterFile.name) and the key"
                )
            }
        }
        try LedgerDirectory.markRefillIfTorn(
            at: path,
            bootID: SystemClock.told(options.bootID)
        )
        // What cannot be checked is not opened: the cluster holds all of it.
        let keys = try journal.keys()
        let own =
            try standing == nil
            ? nil : generation(at: path, beside: keys.generation, options.key)
        let isCurrent =
            !LedgerDirectory.needsRefill(at: path) && own.map { $0 >= keys.generation } ?? false
        if !isCurrent {
            tell("filling the directory from the cluster: \(row.end.size) events")
            try fill(path, as: file, from: journal, options)
        } else if own == keys.generation {
            try LedgerDirectory.renewKeys(
                at: path,
                with: keys.bytes,
                masterKey: options.key.read(of: path)
            )
        }
        do {
            return try opened(at: path, as: file, of: journal, options, reaching: row)
        } catch  where isDamage(error) {
            tell("what stands there is damaged or no part of the cluster's log: filling it again")
            try fill(path, as: file, from: journal, options)
            return try opened(at: path, as: file, of: journal, options, reaching: row)
        }
    }

    /// How often it is asked, a moment apart, whether whoever had the name before has ended.
    private static let nameAttempts = 25
    private static let nameInterval = DispatchTimeInterval.milliseconds(100)
    /// Seconds since it was seen, by a database whose clock may have been set back.
    private static let nameAges: Range<Int64> = -60..<30

    /// Makes sure that no other process has this node's name: each would take the other's lease for its own, and
    /// pass nothing on.
    ///
    /// One that was not seen of late has it no more, whatever connection of it the database has yet: one that waits
    /// for a standby is seen each ten seconds. One that is seen again meanwhile runs, and this one is to have
    /// another name.
    private static func requireName(
        of file: ClusterFile,
        in journal: any ClusterContents,
        at path: String
    ) throws {
        var before: Int64?
        var isSeenAgain = false
        for _ in 0..<nameAttempts {
            guard try !journal.holdName(file.node),
                let other = try journal.members().first(where: { $0.name == file.node }),
                nameAges.contains(other.age)
            else { return }
            if let before, other.age < before { isSeenAgain = true }
            before = other.age
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + nameInterval)
        }
        throw OperationFault(
            isSeenAgain ? .configuration : .init("name_taken", .tryAgain),
            "another machine that runs has the name \(file.node)",
            place: path + "/" + ClusterFile.name,
            hint: "give each machine a name of its own there, or end the other one"
        )
    }

    private static func opened(
        at path: String,
        as file: ClusterFile,
        of journal: any ClusterJournal & ClusterContents,
        _ options: OpenLedger.Options,
        reaching row: JournalRow
    ) throws -> ClusterNode {
        let node = try ClusterNode(at: path, as: file, of: journal, options: options)
        do {
            try requireName(of: file, in: journal, at: path)
            // Nobody else has the name: what stands there is nobody's any more.
            try LedgerDirectory.removeUnfinishedFill(at: path)
            try node.reach(row.confirmedSize, generation: row.end.generation)
            try node.open.directory.vault.forgetReplacedKeys()
            // Before it is looked for new keys: what was noted until then is closed, or replaced by them.
            try node.closeNoted()
            // A key that was revoked elsewhere meanwhile lets nobody in here; a database that was restored says
            // nothing of that.
            if try !node.hasLostSomething() {
                try node.lookAtCommonFiles()
                try node.copy()
            }
        } catch {
            node.open.close(after: error)
            throw error
        }
        return node
    }

    /// Whether a copy is of no use any more: the cluster holds all of it.
    private static func isDamage(_ error: any Error) -> Bool {
        switch error {
        case let fault as LogStorageFault: [.damaged, .unreadable, .replaced].contains(fault.code)
        case let fault as LedgerOpenFault:
            [.damaged, .foreign, .foreignLog, .missing, .treeLost].contains(fault.code)
        default: false
        }
    }

    /// What `ledger.json` says; nil: there is none, or that of a copy is damaged.
    private static func manifest(at path: String) throws -> LedgerDirectory.Manifest? {
        guard DurableFile.exists(path + "/ledger.json") else { return nil }
        do {
            return try LedgerDirectory.manifest(at: path)
        } catch let fault as LedgerOpenFault
            where fault.code == .foreign && LedgerDirectory.isNode(at: path)
        {
            return nil
        }
    }

    /// The generation of a copy's keys; nil: there are none, or they are damaged.
    ///
    /// `known`: that of the cluster's. A later one stands there in clear, where a changed byte may have made it: it
    /// counts where the master key opens the keys.
    private static func generation(
        at path: String,
        beside known: UInt64,
        _ key: MasterKeySource
    ) throws -> UInt64? {
        do {
            let told = try LedgerDirectory.keyGeneration(at: path)
            guard let own = told, own > known else { return told }
            return try LedgerDirectory.keyGeneration(at: path, openedBy: key.read(of: path))
        } catch let fault as LogStorageFault where fault.code == .damaged {
            return nil
        }
    }

    /// Makes a directory's copy anew, unless that would lose something: all that a copy holds was confirmed.
    ///
    /// Nothing is changed, either, where the master key does not open what would take its place.
    private static func fill(
        _ path: String,
        as file: ClusterFile,
        from journal: any ClusterJournal & ClusterContents,
        _ options: OpenLedger.Options
    ) throws {
        let masterKey = try options.key.read(of: path)
        try LedgerDirectory.requireKey(masterKey, opens: journal.keys().bytes)
        if !LedgerDirectory.isNode(at: path) {
            try LedgerDirectory.markNode(at: path)
        }
        let end = try journal.row().end
        let copy = LedgerDirectory.copyEnd(at: path, masterKey: masterKey)
        if end.lacks(copy.size, generation: copy.generation) {
            throw JournalFault(
                .otherHistory,
                "the copy has \(copy.size) events, the cluster's database \(end.size): nothing was changed"
            )
        }
        try requireName(of: file, in: journal, at: path)
        // Nobody else has the name: what stands there is nobody's any more.
        try LedgerDirectory.removeUnfinishedFill(at: path)
        try tellFilling(file, in: journal)
        for attempt in 1... {
            try LedgerDirectory.removeCopy(at: path)
            do {
                _ = try LedgerDirectory.fill(at: path, from: journal, masterKey: masterKey)
                return
            } catch let fault as LogStorageFault
                where fault.code == .busy && attempt < fillAttempts
            {
                // An erasure came between.
            }
        }
    }

    private static let fillAttempts = 5

    /// Says, where nobody knows of this node, that it is there: from now on it has keys and names, and an erasure
    /// that it does not follow names it.
    ///
    /// Who is known stays known by what it had, which is no newer.
    private static func tellFilling(
        _ file: ClusterFile,
        in journal: any ClusterContents
    ) throws {
        guard try !journal.members().contains(where: { $0.name == file.node }) else { return }
        try journal.note(
            ClusterMember(name: file.node, address: file.address, size: 0, generation: 0)
        )
    }
}
