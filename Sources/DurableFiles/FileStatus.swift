import Glibc

/// What the system says of something that stands at a path.
struct FileStatus {
    /// What it is.
    enum Kind {
        case file
        case directory
        case link
        /// A device, a pipe or a socket.
        case other
    }

    var kind: Kind
    var byteCount: Int
    /// The number of the user whose it is.
    var owner: UInt32
    /// The number of its group.
    var group: UInt32
    /// Who may do what with it.
    var mode: UInt32

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
    }
}
