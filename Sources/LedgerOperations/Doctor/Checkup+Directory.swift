import DurableFiles
import EventLog
import Glibc
import LMDBStorage
import LedgerAPI

/// Who may do what in the directory, and whether its last writer left it in order.
extension Checkup {
    /// Looks at owners and modes, the key's file, the format and the last writer.
    ///
    /// `key`: nil: it is not known where it comes from.
    ///
    /// - Throws: `LedgerOpenFault` where there is no ledger; what the system does not tell.
    package mutating func lookAtDirectory(_ key: MasterKeyOptions?) throws {
        let manifest = try LedgerDirectory.manifest(at: path)
        guard let folder = try DurableFile.status(path, followsLinks: true) else { return }
        if folder.mode & (S_IWGRP | S_IWOTH) != 0 {
            add(
                .directoryOpen,
                "others may write to the ledger's directory",
                at: path,
                do: "chmod 700 \(path)"
            )
        }
        try lookAtParts(of: folder)
        try lookAtFiles(of: folder)
        if let place = key?.place, isOpenToOthers(place) {
            add(
                .keyOpen,
                "others may read or write the file of the master key",
                at: place,
                do: "chmod 600 \(place); if somebody has read it: `entitle keys rotate-master`, "
                    + "with --new-key-file where it is kept elsewhere"
            )
        }
        if key?.isOwn == true {
            add(
                .keyBesideData,
                "the master key lies beside what it protects: whoever takes a copy of the disk has "
                    + "both",
                at: path + "/" + LedgerDirectory.keyName,
                do: "keep it elsewhere and name it: --key-file, ENTITLE_KEY_FILE or "
                    + "ENTITLE_KEY_COMMAND"
            )
        }
        if manifest.format < LedgerDirectory.formatVersion {
            add(
                .formatOlder,
                "its format is \(manifest.format), this program writes "
                    + "\(LedgerDirectory.formatVersion)",
                at: path,
                do: "nothing: it becomes the present one when something new is recorded"
            )
        }
        if LedgerDirectory.wasLeftUnclean(at: path) {
            add(
                .uncleanStop,
                "the last process that wrote was ended from outside",
                at: path,
                do: "look why (memory, a kill, the machine); the next command that writes checks "
                    + "the ledger and goes on"
            )
        }
        if LedgerDirectory.isErasing(at: path) {
            add(
                .erasureUnfinished,
                "an erasure is not finished: names and keys of whom it takes may stand yet",
                at: path + "/" + LedgerDirectory.vaultFolder,
                do: "nothing, if one runs now; else mend what stopped it (a full disk, the list "
                    + "of backups): the next erasure finishes it, the server when it starts, and "
                    + "where none runs the next command that writes"
            )
        }
    }

    /// What a ledger's writer has open.
    private static let parts = ["log", "vault", LedgerDirectory.viewsName]

    /// Parts with names and keys are their owner's, who is the directory's.
    private mutating func lookAtParts(of folder: FileStatus) throws {
        let isReached = folder.mode & (S_IXGRP | S_IXOTH) != 0
        for name in Self.parts {
            let place = path + "/" + name
            guard let part = try DurableFile.status(place, followsLinks: true) else { continue }
            if isReached, name != LedgerDirectory.viewsName, part.mode & (S_IRWXG | S_IRWXO) != 0 {
                add(
                    .directoryOpen,
                    "others may look into a folder that holds keys",
                    at: place,
                    do: "chmod 700 \(place)"
                )
            }
            let files = try DurableFile.names(in: place).map { place + "/" + $0 }
            for file in [place] + files {
                guard let status = try DurableFile.status(file, followsLinks: true),
                    status.owner != folder.owner
                else { continue }
                addOwner(status, at: file, folder)
            }
        }
    }

    /// Files beside the parts may be somebody else's, settings say, but for those that the directory's owner
    /// may not read: a command of root's left them so.
    private mutating func lookAtFiles(of folder: FileStatus) throws {
        for name in try DurableFile.names(in: path) where !Self.parts.contains(name) {
            let place = path + "/" + name
            // What the system does not tell of a file is told by whoever needs it.
            guard let status = try? DurableFile.status(place, followsLinks: true),
                !status.isReadable(byOwnerOf: folder)
            else { continue }
            addOwner(status, at: place, folder)
        }
    }

    private mutating func addOwner(
        _ status: FileStatus,
        at place: String,
        _ folder: FileStatus
    ) {
        add(
            .ownersDiffer,
            "it belongs to user \(status.owner), and the ledger's directory to user "
                + "\(folder.owner)",
            at: place,
            do: "chown -R \(folder.owner) \(path), and run commands as that user"
        )
    }

    /// Looks who writes, where no server answers on the ledger's socket.
    package mutating func lookAtWriter() {
        guard LedgerDirectory.isBeingWritten(at: path) == true else { return }
        if LedgerSocket.existing(ofLedgerAt: path) != nil {
            add(
                .serverSilent,
                "a process writes to it, and no server answers on the ledger's socket",
                at: LedgerSocket.existing(ofLedgerAt: path),
                do: "if that process is `entitle serve`, it hangs: look at its log, then end it "
                    + "and start it again"
            )
        } else {
            add(
                .writerBusy,
                "another process writes to it",
                at: path,
                do: "nothing, if it is an import or the like; see who with `fuser "
                    + "\(path)/log/data.mdb`"
            )
        }
    }
}

extension FileStatus {
    /// Whether the user whose a folder is may read it; root may.
    fileprivate func isReadable(byOwnerOf folder: FileStatus) -> Bool {
        folder.owner == 0 || owner == folder.owner || mode & S_IROTH != 0
            || mode & S_IRGRP != 0 && group == folder.group
    }
}
