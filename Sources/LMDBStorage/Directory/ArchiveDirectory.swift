import DurableFiles
package import EventLog
import FoundationEssentials
import Glibc

/// An archive in a directory of this machine.
///
/// One process writes at a time and holds a lock on it.
package final class ArchiveDirectory: ArchiveStore {
    private let path: String
    private let lock: Int32?

    /// Where an archive stands in a ledger's directory unless it was told otherwise.
    package static let name = "archive"
    private static let lockName = ".lock"
    private static let temporarySuffix = ".new"

    /// Opens a directory, which for writing is made if it is not there.
    ///
    /// - Throws: `ArchiveFault.locked` where another process writes to it, `FileFault`.
    package init(at path: String, forWriting: Bool) throws {
        self.path = path
        guard forWriting else {
            lock = nil
            return
        }
        do {
            try DurableFile.makeFolder(path, isDurable: true)
        } catch {
            throw LedgerOpenFault(.cannotCreate, "the directory cannot be made")
        }
        guard let lock = try DurableFile.lock(path + "/" + Self.lockName) else {
            throw ArchiveFault(.locked, "another process writes to the archive")
        }
        self.lock = lock
    }

    deinit {
        if let lock { close(lock) }
    }

    /// See `ArchiveStore`.
    package func read(_ name: String, limit: Int) throws -> [UInt8]? {
        let file = path + "/" + name
        guard let count = try DurableFile.byteCount(file) else { return nil }
        guard count <= limit else {
            throw ArchiveFault(.tooLong, "a file of the archive is longer than any of its kind")
        }
        return try DurableFile.read(file)
    }

    /// See `ArchiveStore`.
    package func exists(_ name: String) throws -> Bool {
        try DurableFile.byteCount(path + "/" + name) != nil
    }

    /// See `ArchiveStore`.
    package func names(in folder: String) throws -> [String] {
        try DurableFile.names(in: path + "/" + folder)
    }

    /// See `ArchiveStore`; each file is written beside its place and renamed, then their folders
    /// are synced.
    package func write(_ files: [ArchiveFile]) throws {
        var folders: Set<String> = []
        for file in files { try makeFolder(of: file.path, &folders) }
        for file in files {
            // One that is there is of a writer that was stopped.
            DurableFile.remove(temporary(file))
            try DurableFile.create(temporary(file), with: file.bytes)
        }
        for file in files { try DurableFile.rename(temporary(file), to: path + "/" + file.path) }
        for folder in folders { try DurableFile.syncDirectory(of: folder + "/") }
    }

    private func temporary(_ file: ArchiveFile) -> String {
        path + "/" + file.path + Self.temporarySuffix
    }

    /// Makes the folders that a file needs, and notes those whose names change.
    private func makeFolder(of name: String, _ changed: inout Set<String>) throws {
        let parts = name.split(separator: "/").dropLast()
        var folder = path
        var missing = false
        for part in parts {
            let parent = folder
            folder += "/" + part
            if missing || !DurableFile.exists(folder) {
                missing = true
                changed.insert(parent)
            }
        }
        changed.insert(folder)
        guard missing else { return }
        try DurableFile.makeFolder(folder)
    }

    /// See `ArchiveStore`.
    package func remove(_ name: String) throws {
        let place = path + "/" + name
        guard DurableFile.exists(place) else { return }
        try FileManager.default.removeItem(atPath: place)
    }
}
