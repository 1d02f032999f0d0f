import Dispatch
import Encodings
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

    /// Stretches that are looked at together.
    private static let width = max(1, ProcessInfo.processInfo.activeProcessorCount)

    private static let stretchesPerCore = 4

    /// Reads all of it, on all cores.
    ///
    /// `progress`: is told bytes done and bytes in all.
    ///
    /// Cost: one pass over the file; memory grows with bundles, superseded records and evidences,
    /// some ten bytes each, not with the records.
    init(_ bytes: any RawBytes, progress: (UInt64, UInt64) -> Void) throws {
        self.bytes = bytes
        let metas = try DatabasePage.metas(bytes)
        let pageSize = metas.first?.pageSize ?? DatabasePage.usualSize
        self.pageSize = pageSize
        var live: [LiveState] = []
        for meta in metas { live.append(try LiveState(meta, of: bytes)) }
        self.live = live
        var found = PageSweep()
        var next: UInt64 = 0
        while next < bytes.byteCount {
            let all = stride(from: next, to: bytes.byteCount, by: PageSweep.stretch)
            let starts = Array(all.prefix(Self.width * Self.stretchesPerCore))
            let sweeps = try Self.sweep(bytes, starts, pageSize)
            for sweep in sweeps { found.join(sweep) }
            next += UInt64(PageSweep.stretch * starts.count)
            progress(min(next, bytes.byteCount), bytes.byteCount)
        }
        found.sort()
        self.found = found
    }

    private static func sweep(
        _ bytes: any RawBytes,
        _ starts: [UInt64],
        _ pageSize: Int
    ) throws -> [PageSweep] {
        let sweeps = Mutex<[PageSweep]>(Array(repeating: PageSweep(), count: starts.count))
        let fault = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: starts.count) { number in
            do {
                let sweep = try PageSweep(of: bytes, at: starts[number], pageSize: pageSize)
                sweeps.withLock { $0[number] = sweep }
            } catch {
                fault.withLock { $0 = error }
            }
        }
        if let fault = fault.withLock({ $0 }) { throw fault }
        return sweeps.withLock { $0 }
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

    /// Whether the file ends before its last page, as far as a meta page tells.
    var isCut: Bool {
        guard let last = live.first?.meta.lastPage else { return bytes.byteCount == 0 }
        return last >= bytes.byteCount / UInt64(pageSize)
    }

    /// What stands at a place; empty where the file ends before it.
    func read(_ place: DatabasePage.Place) throws -> [UInt8] {
        let read = try bytes.read(at: place.offset, count: place.count)
        return read.count == place.count ? read : []
    }
}
