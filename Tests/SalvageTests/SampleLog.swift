import EventLog
import Salvage

/// The shortest records of the format (schemas/log-format.md), and the tree over them.
struct SampleLog {
    let records: [[UInt8]]

    init(_ size: UInt64) { records = (0..<size).map { Self.record($0) } }

    /// A whole record, which another `kind` makes another one.
    static func record(_ sequence: UInt64, kind: UInt8 = 37) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(Array("ELR1".utf8).span)
        writer.append(UInt32(76))
        for number in [sequence, sequence, 0, 0, 0] { writer.append(number) }
        for byte in [kind, 0, 0, 0] { writer.append(byte) }
        for number in [UInt32(0), 0, 0, 0, 0] { writer.append(number) }
        writer.append(CRC32C.checksum(writer.bytes.span))
        return writer.bytes
    }

    private var leaves: [Digest] { records.map { TreeHash.leaf($0.span) } }

    /// The edge of the tree over the first records.
    func edge(_ size: Int) -> TreeEdge { Self.edge(leaves.prefix(size)) }

    func end(_ size: Int) -> LogEnd {
        LogEnd(edge: edge(size), lastRecordedAt: Int64(size), highestCounter: 0)
    }

    func checkpoint(_ size: Int) -> Checkpoint {
        Checkpoint(origin: "ledger.example/test", size: UInt64(size), root: edge(size).root)
    }

    /// The tiles of full bundles, and the one above them.
    func tiles() -> [TileKey: [[UInt8]]] {
        let width = Int(Bundle.recordCount)
        let bundles = stride(from: 0, through: records.count - width, by: width).map {
            Array(leaves[$0..<$0 + width])
        }
        var tiles = [TileKey(level: 1, index: 0): [bundles.flatMap { Self.edge($0).root.bytes }]]
        for (index, leaves) in bundles.enumerated() {
            tiles[TileKey(level: 0, index: UInt64(index))] = [leaves.flatMap(\.bytes)]
        }
        return tiles
    }

    static func edge(_ leaves: some Sequence<Digest>) -> TreeEdge {
        var edge = TreeEdge()
        for leaf in leaves { edge.append(leaf) }
        return edge
    }
}
