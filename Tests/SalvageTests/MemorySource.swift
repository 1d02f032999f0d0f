import EventLog
import Salvage

/// What is left of a log, as a test says it.
struct MemorySource: DamagedOriginal {
    /// In the order in which they are lent.
    var records: [Stored]
    var values: [TileKey: [[UInt8]]]
    var statedEnds: [LogEnd]

    struct Stored {
        var bytes: [UInt8]
        var isLive = true
    }

    /// All of a log.
    init(_ log: SampleLog) {
        records = log.records.map { Stored(bytes: $0) }
        values = log.tiles()
        statedEnds = [log.end(log.records.count)]
    }

    /// Puts something else in a record's place; nil: nothing.
    mutating func replace(_ sequence: Int, with record: [UInt8]?) {
        records.replaceSubrange(
            sequence...sequence,
            with: record.map { [Stored(bytes: $0)] } ?? []
        )
    }

    func records(
        ofBundle bundle: UInt64,
        _ body: (Span<UInt8>, RecordLocation?) throws -> Void
    ) throws {
        for (place, record) in records.enumerated() {
            let start = UInt64(place * record.bytes.count)
            let bytes = start..<start + UInt64(record.bytes.count)
            try body(record.bytes.span, RecordLocation(bytes: bytes, isLive: record.isLive))
        }
    }

    func tiles(_ key: TileKey) -> [[UInt8]] { values[key] ?? [] }

    func attached(_ digest: Digest, ofBundle bundle: UInt64) -> [UInt8]? { nil }

    func sharedParts(_ body: ([UInt8]) throws -> Void) {}

    func notes() -> [String] { [] }

    func ends() -> [LogEnd] { statedEnds }

    var endClues: EndClues {
        EndClues(
            isComplete: true,
            leastSize: 0,
            otherEnds: [],
            byteCount: UInt64(records.reduce(0) { $0 + $1.bytes.count }),
            isCut: false
        )
    }

    func recordEnd(upTo limit: UInt64) -> UInt64 {
        let sequences = records.compactMap {
            (try? RecordHeader(checking: $0.bytes.span))?.sequence
        }
        return sequences.map { $0 + 1 }.filter { $0 <= limit }.max() ?? 0
    }

    func unnamedTile(holding leaf: Digest, at place: Int) -> [Digest]? { nil }

    func trace(of sequence: UInt64, among found: [UInt64: Range<UInt64>]) -> GapTrace {
        GapTrace(.overwritten, pages: nil)
    }
}
