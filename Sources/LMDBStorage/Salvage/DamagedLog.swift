import Dispatch
import EventLog
import FoundationEssentials
import Synchronization

/// All that the raw bytes of a log's data file still hold.
final class DamagedLog: Sendable {
    let bytes: any RawBytes
    /// What was found, wherever it stands; records by sequence.
    let found: PageSweep
    /// What the meta pages lead to, the newest first; one for each meta page that can be read.
    let live: [LiveState]
    let pageSize: Int

    /// Meta pages that a file has.
    static let metaCount = 2
    /// Stretches that are looked at together.
    private static let width = max(1, ProcessInfo.processInfo.activeProcessorCount)

    /// Reads all of it, on all cores.
    ///
    /// `progress`: is told bytes done and bytes in all.
    ///
    /// Cost: one pass over the file; memory grows with bundles, superseded records and evidences,
    /// some ten bytes each, not with the records.
    init(_ bytes: some RawBytes, progress: (UInt64, UInt64) -> Void) throws {
        self.bytes = bytes
        let metas = try Self.metas(bytes)
        let pageSize = metas.first?.pageSize ?? DatabasePage.usualSize
        self.pageSize = pageSize
        live = try metas.map { try LiveState($0, of: bytes) }
        var found = PageSweep()
        var next: UInt64 = 0
        while next < bytes.byteCount {
            let starts = stride(from: next, to: bytes.byteCount, by: PageSweep.stretch)
                .prefix(Self.width * 4)
            let sweeps = try Self.sweep(bytes, Array(starts), pageSize)
            for sweep in sweeps { found.join(sweep) }
            next += UInt64(PageSweep.stretch * starts.count)
            progress(min(next, bytes.byteCount), bytes.byteCount)
        }
        found.sort()
        self.found = found
    }

    private static func sweep(
        _ bytes: some RawBytes,
        _ starts: [UInt64],
        _ pageSize: Int
    ) throws -> [PageSweep] {
        let results = Mutex<[Result<PageSweep, any Error>?]>(
            Array(repeating: nil, count: starts.count)
        )
        DispatchQueue.concurrentPerform(iterations: starts.count) { number in
            let result = Result { try PageSweep(of: bytes, at: starts[number], pageSize: pageSize) }
            results.withLock { $0[number] = result }
        }
        return try results.withLock { $0 }.compactMap { try $0?.get() }
    }

    /// The meta pages that can be read, the newest first.
    static func metas(_ bytes: some RawBytes) throws -> [DatabasePage.Meta] {
        let first = try DatabasePage.meta(bytes.read(at: 0, count: DatabasePage.metaCount).span)
        // The second one stands a page behind; where the first is lost, its size is a guess.
        let sizes = first.map { [$0.pageSize] } ?? [DatabasePage.usualSize]
        var metas = first.map { [$0] } ?? []
        for size in sizes {
            let page = try bytes.read(at: UInt64(size), count: DatabasePage.metaCount)
            if let meta = DatabasePage.meta(page.span), meta.pageSize == size {
                metas.append(meta)
            }
        }
        return metas.sorted { $0.transaction > $1.transaction }
    }

    /// The runs that hold a record of a range.
    func runs(overlapping sequences: Range<UInt64>) -> ArraySlice<RecordRun> {
        let start = sequences.lowerBound - min(sequences.lowerBound, Bundle.recordCount - 1)
        let (low, high) = (place(of: start), place(of: sequences.upperBound))
        return found.runs[low..<high]
    }

    /// The first run that begins at or behind a sequence.
    private func place(of sequence: UInt64) -> Int {
        var (low, high) = (0, found.runs.count)
        while low < high {
            let middle = (low + high) / 2
            if found.runs[middle].first < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a place is in use, as far as a meta page tells.
    func isLive(_ run: RecordRun) -> Bool {
        let place = DatabasePage.Place(offset: run.offset, count: run.byteCount)
        return live.contains { $0.holds(place) }
    }

    /// What stands at a place; empty where the file ends before it.
    func read(_ place: DatabasePage.Place) throws -> [UInt8] {
        let read = try bytes.read(at: place.offset, count: place.count)
        return read.count == place.count ? read : []
    }

    /// The values that may be a tile, those in use first.
    func tiles(_ key: TileKey) throws -> [[UInt8]] {
        var places = live.compactMap { $0.tiles[key] }
        for place in found.tiles[key] ?? [] where !places.contains(place) { places.append(place) }
        return try places.map { try read($0) }.filter { !$0.isEmpty }
    }

    /// An evidence or attachment of a digest; nil where no whole one was found.
    func companion(_ digest: EventLog.Digest) throws -> [UInt8]? {
        guard let place = found.companions[digest.half] else { return nil }
        let blob = try read(place)
        return TreeHash.companion(blob.span) == digest ? blob : nil
    }
}
