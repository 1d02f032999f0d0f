import Glibc

/// A file that is written in pieces, and whole in its place in the end, or as it was before.
///
/// Every file is written by this, whoever names it: one that stands is replaced by renaming a new
/// one, a link stays and what it leads to is meant, devices, pipes and descriptors such as
/// `/dev/stdout` are written to and never replaced, a directory is refused.
package final class FileOutput {
    private let descriptor: Int32
    /// What is renamed in the end, and where it goes; nil: what is written stands at once.
    private let renaming: (temporary: String, path: String)?
    private var waiting: [UInt8] = []
    private var isClosed = false

    /// Bytes that wait for the disk.
    private static let bufferByteCount = 1 << 18
    /// Names that are tried for the new file; others may have left some.
    private static let nameLimit = 100

    /// Begins a file.
    ///
    /// `mode`: who may do what with it where it is new, less what the process withholds.
    ///
    /// `suffix`: what the new file's name ends with until it is whole; what stands there is removed,
    /// so only a folder of ours has one, and whose that is has the file too, where root writes it. Without it a
    /// free name is found.
    ///
    /// A pipe waits for its reader.
    /// - Throws: `FileFault`.
    package init(_ path: String, mode: UInt32 = 0o600, suffix: String? = nil) throws {
        switch try FilePlace(of: path) {
        case .descriptor(let number):
            descriptor = dup(number)
            renaming = nil
            guard descriptor >= 0 else { throw FileFault(errno, "dup") }
        case .stream(let path):
            descriptor = try DurableFile.openStanding(path)
            renaming = nil
        case .file(let path):
            let temporary: String
            if let suffix {
                temporary = path + suffix
                DurableFile.remove(temporary)
                let made = try DurableFile.openNew(temporary, mode: mode)
                DurableFile.giveToOwner(ofFolderOf: path, made)
                descriptor = made
            } else {
                (temporary, descriptor) = try Self.openFree(path, mode)
            }
            renaming = (temporary, path)
        }
    }

    deinit {
        guard !isClosed else { return }
        defer { Glibc.close(descriptor) }
        if let renaming, stands(at: renaming.temporary) { DurableFile.remove(renaming.temporary) }
    }

    /// Whether this is what a name names: whoever replaces the same file at once takes it.
    private func stands(at path: String) -> Bool {
        FileIdentity(at: path) == FileIdentity(of: descriptor)
    }

    private static func openFree(_ path: String, _ mode: UInt32) throws -> (String, Int32) {
        for number in 1...nameLimit {
            let name = "\(path).\(number)\(DurableFile.newSuffix)"
            do {
                return (name, try DurableFile.openNew(name, mode: mode))
            } catch let fault as FileFault where fault.code == EEXIST {}
        }
        throw FileFault(EEXIST, "open")
    }

    /// Adds bytes.
    ///
    /// - Throws: `FileFault`.
    package func write(_ bytes: some Sequence<UInt8>) throws {
        waiting += bytes
        if waiting.count >= Self.bufferByteCount { try flush() }
    }

    /// Ends the file: from here on it stands in its place.
    ///
    /// `isSynced`: whether it is on the disk then.
    ///
    /// - Throws: `FileFault`.
    package func close(isSynced: Bool = true) throws {
        try flush()
        guard let renaming else {
            isClosed = true
            guard Glibc.close(descriptor) == 0 else { throw FileFault(errno, "close") }
            return
        }
        guard !isSynced || fsync(descriptor) == 0 else { throw FileFault(errno, "fsync") }
        guard stands(at: renaming.temporary) else { throw FileFault(EBUSY, "rename") }
        try DurableFile.rename(renaming.temporary, to: renaming.path)
        isClosed = true
        Glibc.close(descriptor)
        if isSynced { try DurableFile.syncDirectory(of: renaming.path) }
    }

    private func flush() throws {
        try DurableFile.write(waiting, to: descriptor)
        waiting.removeAll(keepingCapacity: true)
    }
}
