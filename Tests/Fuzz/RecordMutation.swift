import Entitlements
import EventLog
import ModelSupport

/// Changes records so that most keep lengths and checksum: a byte changed at random hardly ever
/// leads behind these (schemas/log-format.md).
struct RecordMutation: InputMutation {
    /// Where a header's numbers stand, and how many bytes each has.
    private static let numbers = [
        (offset: 8, count: 8), (16, 8), (24, 8), (32, 8), (40, 8), (56, 8), (64, 8), (72, 8),
        (48, 1), (48, 1), (49, 1), (50, 1), (50, 1), (51, 1), (52, 2), (54, 2),
    ]
    private static let edges: [UInt64] = [
        0, 1, 2, 3, 255, 65_535, 1 << 32, 1 << 63, .max, UInt64(bitPattern: Int64.max),
        1_767_225_600_000, 1_893_456_000_000,
    ]
    private static let lengthOffset = 4
    private static let factsOffset = 72
    private static let checksumCount = 4

    func mutated(
        _ input: [UInt8],
        upTo limit: Int,
        using generator: inout SplitMix64
    ) -> [UInt8] {
        guard !generator.chance(10), var records = Self.records(of: input), !records.isEmpty else {
            return LibFuzzer.mutated(input, upTo: limit)
        }
        let index = Int.random(in: records.indices, using: &generator)
        switch generator.next() % 10 {
        case 0: records.swapAt(index, Int.random(in: records.indices, using: &generator))
        case 1: records.remove(at: index)
        case 2: records.append(generator.pick(records))
        case 3..<7: change(&records[index], by: records, using: &generator)
        default: changeRest(&records[index], using: &generator)
        }
        if generator.chance(90) { records = records.map(Self.sealed) }
        let bytes = Bundle.pack(records.prefix(Int(Bundle.recordCount)))
        return bytes.count <= limit ? bytes : input
    }

    /// A number of the header becomes another record's, or one at the ends.
    private func change(
        _ record: inout [UInt8],
        by records: [[UInt8]],
        using generator: inout SplitMix64
    ) {
        let (offset, count) = generator.pick(Self.numbers)
        guard record.count >= offset + count else { return }
        let other = generator.pick(records)
        var number = generator.pick(Self.edges)
        if generator.chance(40) { number = generator.next() % 64 }
        for place in 0..<count {
            record[offset + place] =
                generator.chance(30) && other.count > offset + place
                ? other[offset + place] : UInt8(truncatingIfNeeded: number >> (8 * place))
        }
    }

    /// What stands behind the header is changed as libFuzzer likes.
    private func changeRest(_ record: inout [UInt8], using generator: inout SplitMix64) {
        guard record.count > Self.factsOffset + Self.checksumCount else { return }
        let rest = Array(record[Self.factsOffset..<record.count - Self.checksumCount])
        let changed = LibFuzzer.mutated(rest, upTo: rest.count + 32)
        record = record[..<Self.factsOffset] + changed + [0, 0, 0, 0]
        let facts = Int(record.span.uint16(at: 52))
        let sealed = max(0, changed.count - facts)
        guard facts <= changed.count, sealed <= Int(UInt16.max) else { return }
        record[54] = UInt8(truncatingIfNeeded: sealed)
        record[55] = UInt8(truncatingIfNeeded: sealed >> 8)
    }

    /// With its own length and checksum.
    private static func sealed(_ record: [UInt8]) -> [UInt8] {
        guard record.count > factsOffset + checksumCount else { return record }
        var record = record
        for place in 0..<4 {
            record[lengthOffset + place] = UInt8(truncatingIfNeeded: record.count >> (8 * place))
        }
        let end = record.count - checksumCount
        let checksum = CRC32C.checksum(record.span.extracting(0..<end))
        for place in 0..<4 {
            record[end + place] = UInt8(truncatingIfNeeded: checksum >> (8 * place))
        }
        return record
    }

    private static func records(of block: [UInt8]) -> [[UInt8]]? {
        guard let count = try? Bundle.count(block.span) else { return nil }
        return (0..<count).compactMap { index in
            (try? Bundle.range(of: index, count: count, in: block.span)).map { Array(block[$0]) }
        }
    }
}
