import Encodings
import Entitlements
import EventLog
import PostingIndex

/// Revenue day by day, of a prefix of the log: a view, disposable like the others.
///
/// What follows in the log is laid over it when a question is asked: the purchases that were spoken
/// of since are taken out as they stood, and put in as they stand.
struct RevenueRollUp: Sendable, Equatable {
    /// Events that it was made from.
    var size: UInt64
    /// The recorded time of the last of them: it holds for no earlier T.
    var through: Instant
    /// Days as they are once all that is known has come to pass.
    var report: RevenueReport
    /// Streams of which something later was told, by the latest effective time.
    ///
    /// At a T before that they are counted anew.
    var pending: [UInt64: Instant]
}

/// The file that keeps a roll-up; replaced whole.
///
/// Layout: `ELM3`, the rules by which it was summed (`RulesVersion`, u16), the position (length u16,
/// bytes), environment u8, content (length u32 before and u32 after compression, one Zstandard
/// frame), the code of all this. The content: `through` i64, pending streams (u32, then stream u64 and
/// time i64 each), texts (u32, then text each), lines (u32, then day i64, number of store, product and
/// currency u32 each, `UInt32.max` for none, unpriced i64, and for each of the six amounts count i64,
/// units i64, micros in two halves u64).
enum RevenueRollUpFile {
    private static let magic: UInt32 = 0x334D_4C45
    /// The file's purpose under a ledger's seal.
    private static let purpose = "revenue"
    /// Bytes of the content.
    static let byteLimit = 256 << 20

    static func bytes(
        of rollUp: RevenueRollUp,
        position: ViewPosition,
        environment: StoreEnvironment,
        _ seal: ViewSeal
    ) -> [UInt8]? {
        let content = content(of: rollUp)
        guard content.count <= byteLimit, let frame = Zstandard.compress(content) else {
            return nil
        }
        let place = position.encoded
        var writer = ByteWriter(reservingCapacity: frame.count + place.count + 32)
        writer.append(magic)
        writer.append(RulesVersion.current)
        writer.append(UInt16(place.count))
        writer.append(place.span)
        writer.append(environment.rawValue)
        writer.append(UInt32(frame.count))
        writer.append(UInt32(content.count))
        writer.append(frame.span)
        return seal.sealed(writer.bytes, purpose)
    }

    /// Reads a file.
    ///
    /// - Throws: `DecodingFault` where it is not one of this version, or not whole.
    static func rollUp(
        _ bytes: Span<UInt8>,
        environment: StoreEnvironment,
        _ seal: ViewSeal
    ) throws(DecodingFault) -> (RevenueRollUp, ViewPosition) {
        guard bytes.count >= 4, bytes.uint32(at: 0) == magic else {
            throw DecodingFault(what: "not a roll-up of this version", offset: 0)
        }
        _ = try seal.contentCount(of: bytes, purpose)
        var cursor = ByteCursor(position: 4)
        guard try cursor.uint16(bytes) == RulesVersion.current else {
            throw DecodingFault(what: "a roll-up by other rules", offset: 4)
        }
        let place = try cursor.bytes(bytes, count: Int(cursor.uint16(bytes)))
        let position = try ViewPosition(decoding: bytes.extracting(place))
        guard try cursor.uint8(bytes) == environment.rawValue else {
            throw DecodingFault(what: "a roll-up of another environment", offset: 0)
        }
        let count = Int(try cursor.uint32(bytes))
        let limit = Int(try cursor.uint32(bytes))
        let frame = try cursor.bytes(bytes, count: count)
        guard limit <= byteLimit,
            let content = Zstandard.decompress(bytes.copy(frame), limit: limit)
        else { throw DecodingFault(what: "a roll-up that cannot be unpacked", offset: 0) }
        return (try read(content.span, size: position.treeSize), position)
    }

    private static func content(of rollUp: RevenueRollUp) -> [UInt8] {
        var writer = ByteWriter(reservingCapacity: 256 * rollUp.report.lines.count + 1024)
        writer.append(rollUp.through.milliseconds)
        writer.append(UInt32(rollUp.pending.count))
        for (stream, time) in rollUp.pending.sorted(by: { $0.key < $1.key }) {
            writer.append(stream)
            writer.append(time.milliseconds)
        }
        let lines = rollUp.report.lines.sorted { $0.key < $1.key }
        let texts = Set(
            texts: lines.flatMap {
                [$0.key.store, $0.key.productID] + [$0.key.currencyCode].compactMap { $0 }
            }
        ).texts
        var numbers: [Name: UInt32] = [:]
        writer.append(UInt32(texts.count))
        for (number, text) in texts.enumerated() {
            numbers[text] = UInt32(number)
            writer.append(text)
        }
        writer.append(UInt32(lines.count))
        for (key, line) in lines {
            writer.append(key.day.number)
            for text in [key.store, key.productID, key.currencyCode] {
                writer.append(text.flatMap { numbers[$0] } ?? .max)
            }
            writer.append(Int64(line.unpriced))
            for amount in line.amounts {
                writer.append(Int64(amount.count))
                writer.append(amount.units)
                writer.append(UInt64(truncatingIfNeeded: amount.micros))
                writer.append(UInt64(truncatingIfNeeded: amount.micros >> 64))
            }
        }
        return writer.bytes
    }

    private static func read(
        _ bytes: Span<UInt8>,
        size: UInt64
    ) throws(DecodingFault) -> RevenueRollUp {
        var cursor = ByteCursor()
        let through = Instant(milliseconds: try cursor.int64(bytes))
        var pending: [UInt64: Instant] = [:]
        for _ in 0..<(try cursor.uint32(bytes)) {
            let stream = try cursor.uint64(bytes)
            pending[stream] = Instant(milliseconds: try cursor.int64(bytes))
        }
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
        var lines: [RevenueReport.Key: RevenueReport.Line] = [:]
        for _ in 0..<(try cursor.uint32(bytes)) {
            let day = CalendarDay(number: try cursor.int64(bytes))
            let (store, product, currency) = (try text(), try text(), try text())
            var line = RevenueReport.Line()
            line.unpriced = Int(try cursor.int64(bytes))
            var amounts: [RevenueReport.Amount] = []
            for _ in line.amounts {
                var amount = RevenueReport.Amount()
                amount.count = Int(try cursor.int64(bytes))
                amount.units = try cursor.int64(bytes)
                let (low, high) = (try cursor.uint64(bytes), try cursor.uint64(bytes))
                // Fits: the halves of 128 bits.
                amount.micros = Int128(Int64(bitPattern: high)) << 64 | Int128(low)
                amounts.append(amount)
            }
            line.amounts = amounts
            let key = RevenueReport.Key(
                day: day,
                store: store ?? "",
                productID: product ?? "",
                currencyCode: currency
            )
            lines[key] = line
        }
        try cursor.finish(bytes)
        return RevenueRollUp(
            size: size,
            through: through,
            report: RevenueReport(lines: lines),
            pending: pending
        )
    }
}

extension RevenueReport.Line {
    /// The amounts in the order of the file.
    fileprivate var amounts: [RevenueReport.Amount] {
        get { [taken, refundedOfPurchases, refunded, reversed, bookedTaken, bookedRefunded] }
        set {
            (taken, refundedOfPurchases, refunded) = (newValue[0], newValue[1], newValue[2])
            (reversed, bookedTaken, bookedRefunded) = (newValue[3], newValue[4], newValue[5])
        }
    }
}
