import Glibc

/// What the system says of something that stands at a path.
package struct FileStatus: Sendable {
    /// What it is.
    package enum Kind: Sendable {
        case file
        case directory
        case link
        /// A device, a pipe or a socket.
        case other
    }

    package var kind: Kind
    var byteCount: Int
    /// The number of the user whose it is.
    package var owner: UInt32
    /// The number of its group.
    package var group: UInt32
    /// Who may do what with it.
    package var mode: UInt32
    /// Which content it has.
    var version: FileVersion

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        byteCount = Int(status.st_size)
        owner = status.st_uid
        group = status.st_gid
        mode = status.st_mode & ~S_IFMT
        version = FileVersion(
            inode: UInt64(truncatingIfNeeded: status.st_ino),
            byteCount: byteCount,
            changedSeconds: Int64(status.st_ctim.tv_sec),
            changedNanoseconds: Int64(status.st_ctim.tv_nsec)
        )
    }
}

/// Which content a file has, as far as the system tells: another one once it is replaced or written to.
package struct FileVersion: Hashable, Sendable {
    fileprivate var inode: UInt64
    fileprivate var byteCount: Int
    fileprivate var changedSeconds: Int64
    fileprivate var changedNanoseconds: Int64
}

extension DurableFile {
    /// Which content a file has; nil: there is none.
    ///
    /// - Throws: `FileFault` where the system does not tell.
    package static func version(of path: String) throws -> FileVersion? {
        try status(path, followsLinks: true)?.version
    }
}
