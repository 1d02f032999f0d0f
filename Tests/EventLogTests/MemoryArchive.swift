import EventLog
import Synchronization

/// An archive's files in memory, whose writer can be stopped at any file.
final class MemoryArchive: ArchiveStore {
    private let state: Mutex<State>

    private struct State {
        var files: [String: [UInt8]]
        /// Changes that still succeed; nil: all.
        var left: Int?
    }

    /// What a stopped writer sees.
    struct Stopped: Error {}

    /// `changes`: files that may be written or removed before the writer is stopped; nil: all.
    init(_ files: [String: [UInt8]] = [:], stoppedAfter changes: Int? = nil) {
        state = Mutex(State(files: files, left: changes))
    }

    var files: [String: [UInt8]] { state.withLock { $0.files } }

    func read(_ path: String, limit: Int) throws -> [UInt8]? {
        guard let bytes = files[path] else { return nil }
        guard bytes.count <= limit else { throw ArchiveFault(.tooLong, "too long") }
        return bytes
    }

    func exists(_ path: String) -> Bool { files[path] != nil }

    func names(in folder: String) -> [String] {
        let names = files.keys.filter { $0.hasPrefix(folder + "/") }
            .compactMap { $0.dropFirst(folder.count + 1).split(separator: "/").first }
        return Set(names).map(String.init)
    }

    func write(_ files: [ArchiveFile]) throws {
        for file in files { try change { $0[file.path] = file.bytes } }
    }

    func remove(_ path: String) throws {
        let gone = files.keys.filter { $0 == path || $0.hasPrefix(path + "/") }
        if gone.isEmpty { return }
        try change { files in gone.forEach { files[$0] = nil } }
    }

    private func change(_ body: (inout [String: [UInt8]]) -> Void) throws {
        try state.withLock { state in
            if let left = state.left {
                guard left > 0 else { throw Stopped() }
                state.left = left - 1
            }
            body(&state.files)
        }
    }
}

extension MemoryLog {
    /// Appends entries that need not be records of ours.
    func append(entries: [[UInt8]]) throws {
        var batch = LogBatch(after: end())
        batch.records = RecordList(entries)
        batch.leaves = entries.map { TreeHash.leaf($0.span) }
        batch.lastRecordedAt = 0
        _ = try append(batch)
    }
}

extension NoteSigner {
    /// Signs a log's present end and keeps the note in it.
    func checkpoint(of log: MemoryLog) throws -> SignedNote {
        let edge = log.end().edge
        let note = try sign(Checkpoint(origin: name, size: edge.size, root: edge.root).text)
        log.keepCheckpoint(size: edge.size, note: note.description)
        return note
    }
}
