import DurableFiles
import EventLog
import LMDB
import Synchronization

/// The journal is a second copy of the vault only as long as it holds all that the vault does.
extension LMDBVault {
    /// The last streams that a journal may lack whose writer was stopped: more than come in a
    /// second, after which it is synced.
    private static let mostUnsynced = 100_000
    /// Items that are looked up in one transaction.
    private static let itemsAtOnce = 4096

    private var journalPath: String { path + "/" + VaultJournal.fileName }

    /// Whether a writer finds nothing in it.
    var journalIsEmpty: Bool { writer.withLock { $0.journal?.byteCount == 0 } }

    /// Checks that the journal holds every item as it stands in the vault.
    ///
    /// Cost: one pass over the journal, a look-up for each of its items; a byte for each stream.
    ///
    /// - Throws: `LogStorageFault.damaged`.
    func checkJournal() throws {
        guard names.last != 0 else { return }
        guard DurableFile.exists(journalPath) else {
            throw LogStorageFault(.damaged, "the vault's journal is missing")
        }
        var missing = try missingInJournal()
        // The vault is written first: whoever writes now may be between the two.
        if missing > 0 { missing = try missingInJournal() }
        guard missing > 0 else { return }
        throw LogStorageFault(.damaged, "the vault's journal lacks \(missing) of its streams")
    }

    /// How many streams it lacks, but for those that the next writer adds.
    private func missingInJournal() throws -> Int {
        let isCompleted = writer.withLock { $0.journal != nil } || !wasStopped
        let held = try streamsInJournal()
        return held.dropLast(isCompleted ? 0 : Self.mostUnsynced).count { !$0 }
    }

    /// Adds to the journal what the vault holds and it lacks: what a writer that was stopped left
    /// out, or all of it where it was lost.
    ///
    /// What is damaged in the vault is left out, and told once all else is added.
    ///
    /// Cost: as ``checkJournal()``.
    ///
    /// - Throws: `LogStorageFault`, `.damaged` where the vault itself lacks a stream; `FileFault`.
    package func completeJournal() throws {
        try writer.withLock { writer in
            guard let journal = writer.journal, names.last != 0 else { return }
            var held = try mappingFaults { try streamsInJournal() }
            guard held.contains(false) else { return }
            var items: [[UInt8]] = []
            try mappingFaults {
                try environment.read { transaction in
                    try transaction.scan(streams, from: nil) { key, value in
                        guard let counter = Self.counter(of: value, under: key),
                            counter > 0, counter <= held.count, !held[Int(counter) - 1]
                        else { return true }
                        held[Int(counter) - 1] = true
                        items.append(value.copy())
                        guard items.count == Self.itemsAtOnce else { return true }
                        try journal.append(items)
                        items = []
                        return true
                    }
                }
            }
            try journal.append(items)
            try journal.sync()
            guard !held.contains(false) else {
                throw LogStorageFault(.damaged, "a stream is missing from the vault")
            }
        }
    }

    /// The counter of a whole item; nil where key or value is damaged.
    private static func counter(of value: Span<UInt8>, under key: Span<UInt8>) -> UInt64? {
        guard key.count == 8 else { return nil }
        let stream = key.loadUInt64BigEndian(at: 0)
        do {
            _ = try VaultEntry.checkedDigest(of: value, stream: stream)
        } catch {
            return nil
        }
        return StreamNumber.counter(of: stream)
    }

    /// Of each stream of the vault, in the order of their counters, whether the journal holds what
    /// the vault does.
    private func streamsInJournal() throws -> [Bool] {
        var held = [Bool](repeating: false, count: Int(StreamNumber.counter(of: names.last)))
        guard DurableFile.exists(journalPath) else { return held }
        var items: [VaultItem] = []
        func lookUp() throws {
            try environment.read { transaction in
                for item in items {
                    let place = StreamNumber.counter(of: item.stream)
                    guard place > 0, place <= held.count, !held[Int(place) - 1] else { continue }
                    held[Int(place) - 1] =
                        try transaction.get(streams, Key(item.stream)) { $0.copy() == item.bytes }
                        ?? false
                }
            }
            items = []
        }
        try VaultJournalReader.read(journalPath) { _, part in
            guard case .item(let item) = part else { return }
            items.append(item)
            if items.count == Self.itemsAtOnce { try lookUp() }
        }
        try lookUp()
        return held
    }
}
