import DurableFiles
import Glibc

/// Copies what else stands in a damaged ledger's directory, each file by itself: one that cannot be
/// read takes no other with it.
struct OtherFiles {
    private let source: String
    private let target: String
    /// What could not be read, by its path below the directory.
    private(set) var unreadable: [String] = []

    private static let pieceByteCount = 1 << 20

    /// Names both directories.
    init(of source: String, into target: String) {
        self.source = source
        self.target = target
    }

    /// Copies a file, or a folder with its files, readable by the owner only.
    ///
    /// What a link in the ledger's directory leads to goes along in its place, a folder on another disk say.
    ///
    /// - Throws: what the new directory does not take: `FileFault`, `CocoaError`.
    mutating func copy(_ name: String) throws {
        let path = source + "/" + name
        do {
            let isLink = try DurableFile.status(path, followsLinks: false)?.kind == .link
            let kind = try DurableFile.status(path, followsLinks: true)?.kind
            if isLink, kind == nil || kind == .directory && !goesAlong(name) {
                unreadable.append(name)
                return
            }
            guard kind == .directory else {
                return try DurableFile.copy(path, to: target + "/" + name)
            }
        } catch {
            // A file that can be read is what the new directory did not take.
            guard !Self.isReadable(path) else { throw error }
            unreadable.append(name)
            return
        }
        try copyFolder(name)
    }

    private mutating func copyFolder(_ name: String) throws {
        let contents: [String]
        do {
            contents = try DurableFile.names(in: source + "/" + name)
        } catch {
            unreadable.append(name)
            return
        }
        try DurableFile.makeFolder(target + "/" + name)
        for file in contents { try copy(name + "/" + file) }
    }

    /// Whether the folder that a link leads to is copied.
    ///
    /// A link further below, or to a folder that holds either directory, may lead in circles; what stands in
    /// the ledger's directory is copied, or made anew, by itself.
    private func goesAlong(_ name: String) -> Bool {
        let folder = source + "/" + name
        return !name.contains("/") && !Self.stands(folder, within: source)
            && !Self.stands(source, within: folder) && !Self.stands(target, within: folder)
    }

    /// Whether a folder is another one, or below it, as the system goes, whatever links lead there.
    private static func stands(_ folder: String, within other: String) -> Bool {
        let sought = FileIdentity(at: other)
        var place = folder
        var identity = FileIdentity(at: place)
        while identity != sought {
            place += "/.."
            let above = FileIdentity(at: place)
            guard above != identity else { return false }
            identity = above
        }
        return true
    }

    /// Whether a file can be read to its end.
    private static func isReadable(_ path: String) -> Bool {
        do {
            guard try DurableFile.byteCount(path) != nil else { return true }
            let file = try DurableFile.openForReading(path)
            defer { close(file) }
            var offset: UInt64 = 0
            while true {
                let piece = try DurableFile.read(file, at: offset, count: pieceByteCount)
                if piece.isEmpty { return true }
                offset += UInt64(piece.count)
            }
        } catch {
            return false
        }
    }
}
