import DurableFiles
import EventLog
import FoundationEssentials

/// The directory of the views: a directory for each generation, named by a number, and `current`,
/// which names the one in use.
package struct ViewDirectory: Sendable {
    package let path: String
    package let seal: ViewSeal

    package init(path: String, seal: ViewSeal) {
        self.path = path
        self.seal = seal
    }

    private var currentFile: String { path + "/current" }
    /// Bytes that `current` may have.
    private static let nameLimit = 64

    /// Opens the generation that `current` names; nil if it names none.
    ///
    /// - Throws: `ViewDamage`.
    package func openCurrent() throws(ViewDamage) -> (IndexGeneration, IndexTables)? {
        var last: String?
        while let generation = current() {
            do {
                return (generation, try generation.open())
            } catch {
                // A writer may have switched to another one since.
                if generation.path == last { throw error }
                last = generation.path
            }
        }
        if FileManager.default.fileExists(atPath: currentFile) {
            throw ViewDamage("the views name no generation")
        }
        return nil
    }

    /// The generation that `current` names; nil if there is none.
    private func current() -> IndexGeneration? {
        // Views that cannot be found are made anew.
        guard let content = try? ViewFile.content(currentFile, limit: Self.nameLimit) else {
            return nil
        }
        let name = String(decoding: content, as: UTF8.self).filter { !$0.isNewline }
        guard let number = UInt64(name) else { return nil }
        return IndexGeneration(path: path + "/" + String(number), seal: seal)
    }

    /// Generations that were begun after the one in use, the newest first, with what they hold.
    package func unfinished() throws -> [(IndexGeneration, IndexTables)] {
        let used = current()?.path
        return try generations().compactMap { UInt64($0) }.sorted(by: >).compactMap { number in
            let generation = IndexGeneration(path: path + "/" + String(number), seal: seal)
            // What does not open cannot be finished.
            guard generation.path != used, let tables = try? generation.open() else { return nil }
            return (generation, tables)
        }
    }

    /// Removes generations that were begun and are not in use: they are room on a disk that is full.
    package func removeUnfinished() {
        let used = current()?.path
        // A folder that cannot be listed has nothing that could be removed.
        for name in (try? generations()) ?? []
        where UInt64(name) != nil && path + "/" + name != used {
            // What cannot be removed is only room on the disk.
            try? FileManager.default.removeItem(atPath: path + "/" + name)
        }
    }

    /// Makes an empty generation beside those that stand.
    package func makeGeneration() throws -> IndexGeneration {
        // A name that no number follows is not one that was made here.
        let highest = try generations().compactMap { UInt64($0) }.filter { $0 < .max }.max() ?? 0
        let generation = path + "/" + String(highest + 1)
        try DurableFile.makeFolder(generation)
        return IndexGeneration(path: generation, seal: seal)
    }

    /// Makes a generation the one in use, and removes the others.
    ///
    /// Readers that have one open keep its files until they close them.
    package func use(_ generation: IndexGeneration) throws {
        guard let used = generation.path, let slash = used.lastIndex(of: "/") else { return }
        let name = String(used[used.index(after: slash)...])
        try ViewFile.replace(currentFile, with: Array(name.utf8), isDurable: false)
        for other in try generations() where other != name {
            // What cannot be removed is only room on the disk.
            try? FileManager.default.removeItem(atPath: path + "/" + other)
        }
    }

    /// Names of what stands there beside `current`.
    private func generations() throws -> [String] {
        try DurableFile.makeFolder(path)
        return try FileManager.default.contentsOfDirectory(atPath: path)
            .filter { $0 != "current" }
    }
}
