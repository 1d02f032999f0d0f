import Encodings
import Entitlements
import EventLog
import PostingIndex

/// The file that keeps a roll-up; replaced whole.
///
/// Layout: `ELM4`, the rules by which it was summed (`RulesVersion`, u16), the position (length u16,
/// bytes), environment u8, content, the code of all this. The content: length u32 of one Zstandard
/// frame, u32 of what it holds, the frame; or 0, the length and the content itself, where a frame would
/// not be smaller. It holds: `exactFrom` i64, texts (u32, then text each), cells (u32, then figure u8,
/// number of three texts u32 each, `UInt32.max` for none, number i64), steps (u32, then the `from` i64
/// of each, the day u32 of each, the cell u32 of each, the amount i64 of each: columns are compressed
/// better).
enum RollUpFile {
    private static let magic: UInt32 = 0x344D_4C45
    /// Bytes of the content.
    static let byteLimit = 256 << 20

    static func bytes(
        of rollUp: RollUp,
        _ kind: RollUp.Kind,
        position: ViewPosition,
        environment: StoreEnvironment,
        _ seal: ViewSeal
    ) -> [UInt8]? {
        // A step takes 24 bytes.
        guard rollUp.table.steps.count <= byteLimit / 24 else { return nil }
        let content = content(of: rollUp.table)
        guard content.count <= byteLimit else { return nil }
        let frame = Zstandard.compress(content)
        let stored = frame ?? content
        let place = position.encoded
        var writer = ByteWriter(reservingCapacity: stored.count + place.count + 32)
        writer.append(magic)
        writer.append(RulesVersion.ofSums)
        writer.append(UInt16(place.count))
        writer.append(place.span)
        writer.append(environment.rawValue)
        writer.append(UInt32(frame?.count ?? 0))
        writer.append(UInt32(content.count))
        writer.append(stored.span)
        return seal.sealed(writer.bytes, kind.rawValue)
    }

    /// Reads a file.
    ///
    /// - Throws: `DecodingFault` where it is not one of this version, or not whole.
    static func rollUp(
        _ bytes: Span<UInt8>,
        _ kind: RollUp.Kind,
        environment: StoreEnvironment,
        _ seal: ViewSeal
    ) throws(DecodingFault) -> (RollUp, ViewPosition) {
        guard bytes.count >= 4, bytes.uint32(at: 0) == magic else {
            throw DecodingFault(what: "not a roll-up of this version", offset: 0)
        }
        _ = try seal.contentCount(of: bytes, kind.rawValue)
        var cursor = ByteCursor(position: 4)
        guard try cursor.uint16(bytes) == RulesVersion.ofSums else {
            throw DecodingFault(what: "a roll-up by other rules", offset: 4)
        }
        let place = try cursor.bytes(bytes, count: Int(cursor.uint16(bytes)))
        let position = try ViewPosition(decoding: bytes.extracting(place))
        guard try cursor.uint8(bytes) == environment.rawValue else {
            throw DecodingFault(what: "a roll-up of another environment", offset: 0)
        }
        let count = Int(try cursor.uint32(bytes))
        let limit = Int(try cursor.uint32(bytes))
        let stored = bytes.copy(try cursor.bytes(bytes, count: count == 0 ? limit : count))
        guard limit <= byteLimit,
            let content = count == 0 ? stored : Zstandard.decompress(stored, limit: limit)
        else { throw DecodingFault(what: "a roll-up that cannot be unpacked", offset: 0) }
        let table = try table(content.span, grain: kind.grain)
        return (RollUp(size: position.treeSize, table: table), position)
    }

    private static func content(of table: StepTable) -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: 24 * table.steps.count + 1024)
        writer.append(table.exactFrom.milliseconds)
        let texts = Set(table.cells.flatMap { $0.names.compactMap(\.self) }).sorted()
        var numbers: [Name: UInt32] = [:]
        writer.append(UInt32(texts.count))
        for (number, text) in texts.enumerated() {
            numbers[text] = UInt32(number)
            writer.append(text.text)
        }
        writer.append(UInt32(table.cells.count))
        for cell in table.cells {
            writer.append(cell.figure)
            for name in cell.names { writer.append(name.flatMap { numbers[$0] } ?? .max) }
            writer.append(cell.number)
        }
        writer.append(UInt32(table.steps.count))
        for step in table.steps { writer.append(step.from.milliseconds) }
        for step in table.steps { writer.append(UInt32(bitPattern: step.day)) }
        for step in table.steps { writer.append(step.cell) }
        for step in table.steps { writer.append(step.amount) }
        return writer.bytes
    }

    private static func table(
        _ bytes: Span<UInt8>,
        grain: Int64
    ) throws(DecodingFault) -> StepTable {
        var cursor = ByteCursor()
        let exactFrom = Instant(milliseconds: try cursor.int64(bytes))
        var texts: [String] = []
        for _ in 0..<(try cursor.uint32(bytes)) { texts.append(try cursor.string(bytes)) }
        func text() throws(DecodingFault) -> String? {
            let number = try cursor.uint32(bytes)
            guard number != .max else { return nil }
            guard number < texts.count else {
                throw DecodingFault(what: "a text that is not there", offset: cursor.position)
            }
            return texts[Int(number)]
        }
        var cells: [ReportCell] = []
        for _ in 0..<(try cursor.uint32(bytes)) {
            let figure = try cursor.uint8(bytes)
            let (first, second, third) = (try text(), try text(), try text())
            let number = try cursor.int64(bytes)
            cells.append(ReportCell(figure, first, second, third, number: number))
        }
        // Fits throughout: 24 times a number of 32 bits, and places within the bytes.
        let count = Int(try cursor.uint32(bytes))
        var steps: [StepTable.Step] = []
        let columns = try cursor.bytes(bytes, count: 24 * count).lowerBound
        steps.reserveCapacity(count)
        for index in 0..<count {
            steps.append(
                StepTable.Step(
                    from: Instant(milliseconds: bytes.int64(at: columns + 8 * index)),
                    day: Int32(bitPattern: bytes.uint32(at: columns + 8 * count + 4 * index)),
                    cell: bytes.uint32(at: columns + 12 * count + 4 * index),
                    amount: bytes.int64(at: columns + 16 * count + 8 * index)
                )
            )
        }
        try cursor.finish(bytes)
        guard
            let table = StepTable(
                exactFrom: exactFrom,
                grain: grain,
                cells: cells,
                steps: steps
            )
        else { throw DecodingFault(what: "steps that are not in order", offset: 0) }
        return table
    }
}

extension ReportCell {
    fileprivate var names: [Name?] { [first, second, third] }
}
