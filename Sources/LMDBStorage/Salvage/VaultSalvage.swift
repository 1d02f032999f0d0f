import Dispatch
import DurableFiles
import Encodings
import EventLog
import Glibc
import Salvage
import Synchronization

/// Puts a vault together again from the raw bytes of its data file, its journal and second copies,
/// and from the new streams of the log.
///
/// An entry counts where it opens under its shard's epoch key; a tombstone is final.
struct VaultSalvage {
    private var places: [Place] = []
    private var files: [any RawBytes] = []
    /// Items of second copies.
    private var supplied: [VaultItem] = []
    private let keys: EntryKeys
    /// Streams that are erased, whatever was found of them.
    private var erased: Set<UInt64> = []

    /// Where an item stands.
    private struct Place {
        var stream: UInt64
        /// Number of the file; of the supplied items where it is negative.
        var file: Int32
        var count: Int32
        var offset: UInt64
        var isTombstone: Bool
    }

    init(epochKeys: EpochKeys) { keys = EntryKeys(epochKeys) }

    /// Finds what a file holds; one that is missing holds nothing.
    mutating func read(_ path: String) throws {
        guard DurableFile.exists(path) else { return }
        let number = Int32(files.count)
        files.append(try RawFile(path: path))
        try VaultJournalReader.read(path) { offset, part in
            guard case .item(let item) = part else { return }
            places.append(
                Place(
                    stream: item.stream,
                    file: number,
                    count: Int32(item.bytes.count),
                    offset: offset,
                    isTombstone: item.isTombstone
                )
            )
        }
    }

    /// Takes the streams that are new in a log; to be called first, for what the vault has counts.
    mutating func read(_ log: DamagedLog) throws {
        let number = Int32(files.count)
        files.append(log.bytes)
        for place in log.found.newStreams {
            let bytes = try log.read(place)
            // What was an entry and is none any more is not there.
            guard let item = try? VaultItem(checking: bytes.span) else { continue }
            places.append(
                Place(
                    stream: item.stream,
                    file: number,
                    count: Int32(place.count),
                    offset: place.offset,
                    isTombstone: item.isTombstone
                )
            )
        }
    }

    mutating func read(_ supply: any SalvageSupply) throws {
        try supply.vaultItems { item in
            let place = Place(
                stream: item.stream,
                file: -1,
                count: 0,
                offset: UInt64(supplied.count),
                isTombstone: item.isTombstone
            )
            places.append(place)
            supplied.append(item)
        }
    }

    /// Leaves one item for each stream, ascending; to be called when everything was read.
    ///
    /// Cost: a read and an opening for each stream, on all cores.
    mutating func chooseEntries() throws {
        places.sort { ($0.stream, $0.file, $0.offset) < ($1.stream, $1.file, $1.offset) }
        var starts: [Int] = []
        for index in places.indices
        where index == 0 || places[index - 1].stream != places[index].stream {
            starts.append(index)
        }
        places = try choices(starts)
    }

    /// One item of each group of places, the groups beginning at `starts`.
    private func choices(_ starts: [Int]) throws -> [Place] {
        let parts = (starts.count + Self.groupsPerPart - 1) / Self.groupsPerPart
        let chosen = Mutex<[[Place]]>(Array(repeating: [], count: parts))
        let fault = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: parts) { part in
            let first = part * Self.groupsPerPart
            do {
                let found = try (first..<min(first + Self.groupsPerPart, starts.count))
                    .compactMap { group in
                        let end = group + 1 < starts.count ? starts[group + 1] : places.count
                        return try choice(places[starts[group]..<end])
                    }
                chosen.withLock { $0[part] = found }
            } catch {
                fault.withLock { $0 = error }
            }
        }
        if let fault = fault.withLock({ $0 }) { throw fault }
        return chosen.withLock { $0.flatMap(\.self) }
    }

    /// Streams that are looked at by one core at once.
    private static let groupsPerPart = 4096

    /// Leaves of streams that the log erases their numbers (Z6): an old copy of the vault, under keys of
    /// its time, may still have them.
    mutating func erase(_ streams: Set<UInt64>) {
        erased = streams
        places.removeAll { streams.contains($0.stream) }
    }

    /// Whether a stream has its key, or a tombstone.
    func holds(_ stream: UInt64) -> Bool {
        var (low, high) = (0, places.count)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].stream < stream { low = middle + 1 } else { high = middle }
        }
        return low < places.count && places[low].stream == stream
    }

    /// The streams without an item, ascending: those that records name, and every other counter
    /// below the highest, for counters are given without a gap.
    func lost(named: Set<UInt64>) -> [UInt64] {
        let held = Set((places.map(\.stream) + erased).map(StreamNumber.counter(of:)))
        var lost = Dictionary(
            named.map { (StreamNumber.counter(of: $0), $0) },
            uniquingKeysWith: { first, _ in first }
        ).filter { !held.contains($0.key) }
        let highest = max(held.max() ?? 0, lost.keys.max() ?? 0)
        // A number that is somebody's invention is not filled up to.
        guard highest < UInt64(held.count + lost.count) + Self.fillLimit else {
            return lost.values.sorted()
        }
        for counter in 0..<highest where !held.contains(counter + 1) && lost[counter + 1] == nil {
            // A number that no record names has a shard that nobody asks for.
            lost[counter + 1] = StreamNumber.number(counter: counter + 1, shard: 0)
        }
        return lost.values.sorted()
    }

    /// Counters without an item that are filled up at most.
    private static let fillLimit: UInt64 = 1 << 24

    /// Of a stream's items a tombstone is final; else the last one that opens counts.
    private func choice(_ group: ArraySlice<Place>) throws -> Place? {
        guard group.first?.stream != StreamNumber.catalog else { return nil }
        if let tombstone = group.first(where: \.isTombstone) { return tombstone }
        return try group.last { place in
            guard case .entry(_, _, let bytes) = try item(place) else { return false }
            return keys.open(bytes)
        }
    }

    private func item(_ place: Place) throws -> VaultItem? {
        guard place.file >= 0 else { return supplied[Int(place.offset)] }
        let bytes = try files[Int(place.file)].read(at: place.offset, count: Int(place.count))
        // What was an item and is none any more is not there.
        return try? VaultItem(checking: bytes.span)
    }

    /// Whether a vault's state holds each item that was chosen, and no other bytes of it.
    func isHeld(by state: LiveVault) throws -> Bool {
        try places.allSatisfy { place in
            try item(place).map { state.holds($0) } ?? false
        }
    }

    /// What there is, and what is lost.
    func report(lost: [UInt64]) -> SalvageReport.VaultReport {
        var report = SalvageReport.VaultReport()
        report.lost = Array(lost.prefix(SalvageReport.listLimit))
        report.lostCount = UInt64(lost.count)
        report.streams = UInt64(places.count { !$0.isTombstone })
        report.erased = UInt64(places.count { $0.isTombstone } + erased.count)
        return report
    }

    /// Makes a vault in an existing, empty directory.
    ///
    /// `lost`: streams without a key; they get tombstones, for their numbers are never given again.
    func make(at path: String, lost: [UInt64]) throws {
        let journal = path + "/" + VaultJournal.fileName + ".rescued"
        let file = try DurableFile.openForAppending(journal)
        defer {
            close(file)
            DurableFile.remove(journal)
        }
        var buffer: [UInt8] = []
        for place in places {
            guard let item = try item(place) else { continue }
            buffer += item.bytes
            guard buffer.count >= Self.bufferCount else { continue }
            try DurableFile.write(buffer, to: file)
            buffer = []
        }
        for stream in lost { buffer += VaultItem.tombstone(stream: stream).bytes }
        try DurableFile.write(buffer, to: file)
        _ = try VaultCopy.make(at: path, from: journal, epochKeys: keys.epochs, erased: erased)
    }

    /// Bytes that are written at once.
    private static let bufferCount = 1 << 20
}

extension VaultItem {
    fileprivate var isTombstone: Bool {
        if case .tombstone = self { true } else { false }
    }
}
