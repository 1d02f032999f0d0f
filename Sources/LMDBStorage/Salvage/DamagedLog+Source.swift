import EventLog
import Salvage

/// What a salvage is given of the raw bytes.
extension DamagedLog: DamagedOriginal {
    /// Those of pages in use first.
    func records(
        ofBundle bundle: UInt64,
        _ body: (Span<UInt8>, RecordLocation?) throws -> Void
    ) throws {
        let first = bundle * Bundle.recordCount
        for run in runs(overlapping: first..<first + Bundle.recordCount) where run.end > first {
            let isLive = isLive(run)
            let bytes = try read(.init(offset: run.offset, count: run.byteCount))
            var offset = run.offset
            try run.forEach(in: bytes.span) { _, record in
                let end = offset + UInt64(record.count)
                try body(record, RecordLocation(bytes: offset..<end, isLive: isLive))
                offset = end + UInt64(RecordRun.prefixCount)
            }
        }
    }

    /// The values that may be a tile, those in use first.
    func tiles(_ key: TileKey) throws -> [[UInt8]] {
        var places = live.compactMap { $0.tiles[key] }
        for place in found.tiles[key] ?? [] where !places.contains(place) { places.append(place) }
        var values: [[UInt8]] = []
        for place in places {
            let value = try read(place)
            if !value.isEmpty { values.append(value) }
        }
        return values
    }

    /// An evidence or attachment of a digest; nil where no whole one was found.
    func attached(
        _ digest: EventLog.Digest,
        ofBundle bundle: UInt64
    ) throws -> [UInt8]? {
        guard let place = found.attached[digest.half] else { return nil }
        let attached = try read(place)
        return AttachedBytes.digest(of: attached.span) == digest ? attached : nil
    }

    /// They are found by what they contain.
    func sharedParts(_ body: ([UInt8]) throws -> Void) throws {
        for place in found.sharedParts { try body(read(place)) }
    }

    func notes() -> [String] { found.notes.values.flatMap(\.self) }

    /// Those that meta pages lead to.
    func ends() -> [LogEnd] { live.compactMap(\.end) }

    var endClues: EndClues {
        EndClues(
            // What the newest meta page leads to must be there: the end of an older one is in use no
            // more.
            isComplete: live.count == DatabasePage.metaPages && live.first?.end != nil,
            leastSize: live.first?.recordEnd ?? 0,
            otherEnds: found.ends.values.flatMap(\.self),
            byteCount: bytes.byteCount,
            isCut: isCut
        )
    }

    func recordEnd(upTo limit: UInt64) -> UInt64 {
        found.runs.last { $0.end <= limit }?.end ?? 0
    }

    /// A full tile of leaves that holds a hash at a place, whatever its key was.
    ///
    /// Cost: a small read for each full tile of the file.
    func unnamedTile(
        holding leaf: EventLog.Digest,
        at place: Int
    ) throws -> [EventLog.Digest]? {
        let width = EventLog.Digest.byteCount
        for tile in found.unnamedTiles {
            let one = try bytes.read(at: tile.offset + UInt64(place * width), count: width)
            guard EventLog.Digest(exactly: one.span) == leaf else { continue }
            let all = try read(tile)
            guard !all.isEmpty else { continue }
            return (0..<TileCoordinate.fullWidth).map { EventLog.Digest(all.span, at: $0 * width) }
        }
        return nil
    }

    func trace(
        of sequence: UInt64,
        among found: [UInt64: Range<UInt64>]
    ) throws -> GapTrace {
        let bundle = sequence / Bundle.recordCount
        let value = live.lazy.compactMap { $0.bundles[bundle] }.first
        return try GapCause(log: self, value: value).trace(of: sequence, among: found)
    }
}
