import FoundationEssentials
import Glibc

/// Files that decide whom or what a program trusts: nobody else may have put them there.
package enum TrustedFile {
    /// What makes a file one of somebody else's.
    package struct Distrust: Hashable, Sendable {
        /// Where: the file, or a folder or a link on the way to it.
        package var place: String
        /// What is wrong there.
        package var reason: Reason

        /// The closed set of reasons.
        package enum Reason: Hashable, Sendable {
            /// It is another user's, by number.
            case owner(UInt32)
            /// Others may write to it.
            case writable
            /// Links lead to links without an end.
            case links
        }
    }

    /// Links that are followed, as many as the system follows.
    private static let linkLimit = 40

    /// Holds the file, and every folder and link on the way to it, against who may change them.
    ///
    /// They are this user's, root's, or one's of `owners`, and nobody else may write to them. A
    /// folder for everybody such as /tmp will do where it keeps to each what is theirs (sticky). A
    /// group may write where it is the owner's own, by the number that it shares with them.
    ///
    /// What is not there is nobody's: whoever reads it says so.
    ///
    /// - Returns: what makes it one of somebody else's; nil: nothing does.
    /// - Throws: `FileFault` where the system does not tell.
    package static func distrust(
        of path: String,
        owners: Set<UInt32> = []
    ) throws -> Distrust? {
        let owners = owners.union([0, geteuid()])
        let start =
            path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        var folder = "/"
        var rest = parts(start)
        var links = 0
        while let name = rest.popLast() {
            if name == ".." {
                folder = parent(of: folder)
                continue
            }
            let place = (folder == "/" ? "" : folder) + "/" + name
            guard let status = try DurableFile.status(place, followsLinks: false) else {
                return nil
            }
            guard owners.contains(status.owner) else {
                return Distrust(place: place, reason: .owner(status.owner))
            }
            switch status.kind {
            case .link:
                links += 1
                guard links <= linkLimit else { return Distrust(place: place, reason: .links) }
                let target = try FileManager.default.destinationOfSymbolicLink(atPath: place)
                if target.hasPrefix("/") { folder = "/" }
                rest += parts(target)
            case .directory:
                guard !status.isOpenToOthers || status.mode & S_ISVTX != 0 else {
                    return Distrust(place: place, reason: .writable)
                }
                folder = place
            case .file, .other:
                guard !status.isOpenToOthers else {
                    return Distrust(place: place, reason: .writable)
                }
            }
        }
        return nil
    }

    /// The user whose a folder is; nil: there is none.
    package static func owner(of folder: String) -> UInt32? {
        // Without an owner fewer files are trusted.
        (try? DurableFile.status(folder, followsLinks: true))?.owner
    }

    /// The parts of a path, the last one first.
    private static func parts(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init).reversed()
    }

    private static func parent(of folder: String) -> String {
        let parent = folder.prefix(upTo: folder.lastIndex(of: "/") ?? folder.startIndex)
        return parent.isEmpty ? "/" : String(parent)
    }
}

extension FileStatus {
    /// Whether somebody other than its owner may write to it.
    fileprivate var isOpenToOthers: Bool {
        mode & S_IWOTH != 0 || mode & S_IWGRP != 0 && group != owner
    }
}
