import FoundationEssentials
import Glibc

/// Where bytes for a path go; what stands there decides.
///
/// A file is replaced by renaming. What is no file is written to: a rename would put a file in its
/// place, and as root that takes a device from the whole machine. A link stays; what it leads to is
/// meant.
enum FilePlace: Equatable {
    /// A regular file, or none yet.
    case file(String)
    /// A device or a pipe, or a file that another process has open.
    case stream(String)
    /// What this process has open, by a name such as `/dev/stdout`.
    case descriptor(Int32)

    /// Links that are followed, as many as the system follows.
    private static let linkLimit = 40

    /// Finds the place; a file that is not there yet has one.
    ///
    /// - Throws: `FileFault`; `EISDIR` for a directory.
    init(of path: String) throws {
        guard !path.isEmpty else { throw FileFault(ENOENT, "open") }
        var path = path
        for _ in 0..<Self.linkLimit {
            let status = try DurableFile.status(path, followsLinks: false)
            switch status?.kind {
            case nil, .file?:
                self = .file(path)
                return
            case .directory?: throw FileFault(EISDIR, "open")
            case .other?:
                self = .stream(path)
                return
            case .link?:
                if let place = Self.open(path) {
                    self = place
                    return
                }
                guard try Self.isSafe(status?.owner, in: String(Self.folder(of: path))) else {
                    throw FileFault(EACCES, "open")
                }
                let next = try FileManager.default.destinationOfSymbolicLink(atPath: path)
                path = next.hasPrefix("/") ? next : Self.folder(of: path) + next
            }
        }
        throw FileFault(ELOOP, "open")
    }

    /// The place of a link in `/proc`, which leads to what a process has open rather than to a name.
    private static func open(_ link: String) -> FilePlace? {
        let folder = URL(filePath: String(folder(of: link))).resolvingSymlinksInPath().path
        guard folder.hasPrefix("/proc/") else { return nil }
        guard folder == "/proc/\(getpid())/fd",
            let descriptor = Int32(link[Self.folder(of: link).endIndex...])
        else { return .stream(link) }
        return .descriptor(descriptor)
    }

    /// Whether a link is not another user's trap, by the rule of `protected_symlinks` (proc(5)).
    ///
    /// In a folder such as /tmp everybody puts links, for what others will write.
    private static func isSafe(_ owner: UInt32?, in folder: String) throws -> Bool {
        guard let status = try DurableFile.status(folder, followsLinks: true) else { return false }
        let isShared = status.mode & S_ISVTX != 0 && status.mode & S_IWOTH != 0
        return !isShared || owner == geteuid() || owner == status.owner
    }

    /// A path up to its last slash.
    private static func folder(of path: String) -> Substring {
        guard let slash = path.lastIndex(of: "/") else { return "./" }
        return path[...slash]
    }
}
