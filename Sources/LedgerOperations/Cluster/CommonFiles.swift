import DurableFiles
package import Encodings
package import EventLog
import LMDBStorage

/// Files that all machines of a cluster hold in common beside log and vault: what stands in a directory is a copy,
/// and a change is made at what the cluster holds.
package enum CommonFiles {
    /// Their names in a ledger's directory: the digests of API keys.
    private static let names: [Name] = ["keys.json"]
    /// Times that a change which met another one is made again.
    private static let attempts = 100

    /// Takes over what the cluster holds; what it never held is told to it.
    ///
    /// `confirm`: asked once something else was read than stands here: throws where it is not to count.
    ///
    /// - Throws: `JournalFault`, `FileFault`; `LedgerOpenFault.locked` where somebody changes one for long; what
    ///   `confirm` throws.
    package static func meet(
        at path: String,
        in contents: some ClusterContents,
        confirm: () throws -> Void = {}
    ) throws {
        for name in names {
            let place = path + "/" + name.text
            let own = try DurableFile.read(place)
            if let common = try contents.held(name.text) {
                guard own != common else { continue }
                try confirm()
                // A command may be changing it at this moment.
                try LedgerDirectory.change(name.text, at: path) {
                    try contents.held(name.text) ?? common
                }
            } else if let own {
                // Another one was faster where it is not taken: the next look finds that.
                _ = try contents.hold(own, as: name.text, insteadOf: nil)
            }
        }
    }

    /// What stands under a name: the cluster's bytes, or those of the directory where it never held any.
    ///
    /// - Throws: `JournalFault`, `FileFault`.
    package static func read(
        _ name: Name,
        at path: String,
        in contents: some ClusterContents
    ) throws -> [UInt8]? {
        try contents.held(name.text) ?? DurableFile.read(path + "/" + name.text)
    }

    /// Makes a change at what the cluster holds, anew where another machine changed it meanwhile, and then in the
    /// directory.
    ///
    /// `body`: the file as it is, nil for none, becomes its new bytes; it may be asked several times.
    ///
    /// - Throws: `JournalFault`; `LogStorageFault.notInCluster` where the ledger goes on elsewhere; `LedgerOpenFault`
    ///   where there is no ledger; `FileFault`; what the body throws: then nothing is changed.
    package static func change(
        _ name: Name,
        at path: String,
        in contents: some ClusterContents & ClusterJournal,
        _ body: ([UInt8]?) throws -> [UInt8]
    ) throws {
        try LedgerDirectory.change(name.text, at: path) {
            for _ in 0..<attempts {
                let common = try contents.held(name.text)
                let changed = try body(common ?? DurableFile.read(path + "/" + name.text))
                guard try contents.hold(changed, as: name.text, insteadOf: common) else { continue }
                // What cannot be asked says nothing of an end, and what was written stands.
                if let lease = try? contents.row().lease { try requireToGoOn(lease) }
                return changed
            }
            throw JournalFault(.unavailable, "others were always before it")
        }
    }

    /// Makes sure that somebody takes over what was written: the one directory in which the ledger goes on read
    /// behind the end of the cluster what it held, and reads it no more.
    private static func requireToGoOn(_ lease: JournalLease) throws {
        guard lease.isLast else { return }
        throw LogStorageFault(
            .notInCluster,
            "the cluster has ended: its ledger goes on alone in the directory of \(lease.node)"
        )
    }
}
