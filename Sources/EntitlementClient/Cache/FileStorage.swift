import Foundation
import LedgerAPI

/// Files in a folder of the app's, written by Foundation: DurableFiles is for servers.
struct FileStorage: CacheStorage {
    private let folder: URL

    /// Bytes of a file that are read; larger ones are none of ours.
    static let byteLimit = 16 << 20
    /// Begins the names of what Foundation writes before it takes a file's place.
    private static let tornPrefix = ".dat.nosync"

    /// Takes a folder, which is made when something is written.
    init(path: String) { folder = URL(filePath: path, directoryHint: .isDirectory) }

    func read(_ file: CacheFile) throws(ServiceError) -> [UInt8]? {
        let url = url(file)
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        let data = try Self.wrapped {
            let handle = try FileHandle(forReadingFrom: url)
            defer { Self.close(handle) }
            return try handle.read(upToCount: Self.byteLimit + 1) ?? Data()
        }
        guard data.count <= Self.byteLimit else { throw ServiceError.keptFileTooLarge }
        return Array(data)
    }

    func write(_ bytes: [UInt8], to file: CacheFile) throws(ServiceError) {
        try Self.wrapped {
            try prepare()
            try Data(bytes).write(to: url(file), options: Self.protection.union(.atomic))
        }
    }

    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    /// What refreshes in the background reads it while the device is locked.
    private static var protection: Data.WritingOptions {
        [.completeFileProtectionUntilFirstUserAuthentication]
    }
    #else
    private static var protection: Data.WritingOptions { [] }
    #endif

    func append(_ bytes: [UInt8], to file: CacheFile) throws(ServiceError) {
        let lock = lock(file)
        defer { if let lock { Self.close(lock) } }
        guard FileManager.default.fileExists(atPath: url(file).path) else {
            return try write(bytes, to: file)
        }
        try Self.wrapped {
            let handle = try FileHandle(forWritingTo: url(file))
            defer { Self.close(handle) }
            // By the system, not by a place that was looked up before: another program may write meanwhile.
            guard fcntl(handle.fileDescriptor, F_SETFL, O_APPEND) == 0 else {
                throw CocoaError(.fileWriteUnknown)
            }
            try handle.write(contentsOf: Data(bytes))
            try handle.synchronize()
        }
    }

    func rewrite(_ file: CacheFile, _ body: ([UInt8]?) -> [UInt8]) throws(ServiceError) {
        let lock = lock(file)
        defer { if let lock { Self.close(lock) } }
        try write(body(read(file)), to: file)
    }

    /// Waits until nobody else adds to a file or writes it anew, and holds them off until what it returns is closed;
    /// nil: there is no lock to be had, and whoever comes goes on without.
    ///
    /// Held for work alone that waits for nobody: a system that suspends an app ends one that holds a lock in a folder
    /// which it shares. It stands in an empty file beside the other, which is never taken away: one who waits for it and
    /// one who makes it anew would both go on.
    private func lock(_ file: CacheFile) -> FileHandle? {
        let url = folder.appending(
            component: file.rawValue + ".lock",
            directoryHint: .notDirectory
        )
        do {
            if !FileManager.default.fileExists(atPath: url.path) {
                try prepare()
                // In place: of two who make it at once, both have the same.
                try Data().write(to: url, options: Self.protection)
            }
            let lock = try FileHandle(forReadingFrom: url)
            // A signal ends the waiting, and says nothing of the lock.
            while flock(lock.fileDescriptor, LOCK_EX) != 0, errno == EINTR {}
            return lock
        } catch {
            // What the disk does not take is told by whoever writes behind it.
            return nil
        }
    }

    func remove(_ file: CacheFile) throws(ServiceError) {
        for url in [url(file), asideURL(file)]
        where FileManager.default.fileExists(atPath: url.path) {
            try Self.wrapped { try FileManager.default.removeItem(at: url) }
        }
        try removeTorn()
    }

    /// What Foundation was writing when the program was killed: a copy that nothing else takes away
    /// (row CL5).
    private func removeTorn() throws(ServiceError) {
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        try Self.wrapped {
            for url in try FileManager.default.contentsOfDirectory(
                at: folder,
                includingPropertiesForKeys: nil
            )
            where url.lastPathComponent.hasPrefix(Self.tornPrefix) {
                try FileManager.default.removeItem(at: url)
            }
        }
    }

    func putAside(_ file: CacheFile) throws(ServiceError) {
        try Self.wrapped {
            let aside = asideURL(file)
            if FileManager.default.fileExists(atPath: aside.path) {
                try FileManager.default.removeItem(at: aside)
            }
            try FileManager.default.moveItem(at: url(file), to: aside)
        }
    }

    private func url(_ file: CacheFile) -> URL {
        folder.appending(component: file.rawValue, directoryHint: .notDirectory)
    }

    private func asideURL(_ file: CacheFile) -> URL {
        folder.appending(component: file.rawValue + ".refused", directoryHint: .notDirectory)
    }

    /// Makes the folder; made or found, it is its owner's only, and left out of backups: on another
    /// device it would be somebody else's, or old.
    private func prepare() throws {
        let mode: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        if FileManager.default.fileExists(atPath: folder.path) {
            // Of a folder that is another user's its mode is theirs to say.
            try? FileManager.default.setAttributes(mode, ofItemAtPath: folder.path)
        } else {
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: true,
                attributes: mode
            )
        }
        #if canImport(Darwin)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        var folder = folder
        // What is kept there is kept all the same.
        try? folder.setResourceValues(values)
        #endif
    }

    private static func close(_ handle: FileHandle) {
        // What was written is on the disk already.
        try? handle.close()
    }

    /// Foundation's errors as the app is told of them: their domain and number, and no path.
    private static func wrapped<Value>(_ body: () throws -> Value) throws(ServiceError) -> Value {
        do {
            return try body()
        } catch {
            let error = error as NSError
            throw ServiceError(.databaseError, nativeCode: "\(error.domain)/\(error.code)")
        }
    }
}
