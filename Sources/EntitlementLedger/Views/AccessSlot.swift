import Entitlements
import EventLog

/// What the access table keeps of a customer: the stretches that unlock something, and the streams
/// that they were folded from.
///
/// It holds as long as none of these streams, and no catalog, has moved: an event that could change
/// it would be recorded under one of them.
///
/// Layout, in 104 bytes, so that a slot of the table is two cache lines: size and instant (u48 each),
/// counts (u8 each; the second with a bit for each stretch that is kept, from bit 4 on), four streams
/// (u48), three stretches of product u32, start, end and keptSince (u48 each).
struct AccessSlot {
    /// Size of the log that it was folded from.
    var size: UInt64
    /// It speaks of this instant and later ones.
    var from: Instant
    var streamCount = 0
    var streams: InlineArray<4, UInt64> = .init(repeating: 0)
    var stretchCount = 0
    var stretches: InlineArray<3, Stretch> = .init(repeating: Stretch())

    /// A stretch of one product.
    struct Stretch: Hashable {
        var product: UInt32 = 0
        /// What was bought is kept from its start on (K3).
        var isKept = false
        var start = Instant(milliseconds: 0)
        var end = Instant(milliseconds: 0)
        /// The period's start, where it is kept.
        var keptSince = Instant(milliseconds: 0)
    }

    /// Without end; what does not fit into 48 bits is not kept.
    static let never = Instant(milliseconds: (1 << 48) - 1)
    static let streamCapacity = 4
    static let stretchCapacity = 3
    static let payloadBytes = 14 + streamCapacity * 6 + stretchCapacity * stretchBytes
    private static let stretchesOffset = 14 + streamCapacity * 6
    private static let stretchBytes = 22

    init(size: UInt64, from: Instant) {
        self.size = size
        self.from = from
    }

    /// Whether all its numbers fit into the bits that they have.
    var isEncodable: Bool {
        var numbers = [size, UInt64(bitPattern: from.milliseconds)]
        for index in 0..<streamCount { numbers.append(streams[index]) }
        for index in 0..<stretchCount {
            let stretch = stretches[index]
            numbers += [stretch.start, stretch.end, stretch.keptSince].map {
                UInt64(bitPattern: $0.milliseconds)
            }
        }
        return numbers.allSatisfy { $0 >> 48 == 0 }
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(reservingCapacity: Self.payloadBytes)
        func append(_ number: UInt64) {
            writer.append(UInt32(truncatingIfNeeded: number))
            writer.append(UInt16(truncatingIfNeeded: number >> 32))
        }
        func append(_ instant: Instant) { append(UInt64(bitPattern: instant.milliseconds)) }
        append(size)
        append(from)
        writer.append(UInt8(streamCount))
        var counts = UInt8(stretchCount)
        for index in 0..<stretchCount where stretches[index].isKept { counts |= 16 << index }
        writer.append(counts)
        for index in 0..<Self.streamCapacity { append(streams[index]) }
        for index in 0..<Self.stretchCapacity {
            writer.append(stretches[index].product)
            append(stretches[index].start)
            append(stretches[index].end)
            append(stretches[index].keptSince)
        }
        return writer.bytes
    }

    /// Reads a payload whose checksum was right; nil if its counts cannot be.
    init?(decoding payload: Span<UInt8>) {
        func number(_ offset: Int) -> UInt64 {
            UInt64(payload.uint32(at: offset)) | UInt64(payload.uint16(at: offset + 4)) << 32
        }
        func instant(_ offset: Int) -> Instant {
            Instant(milliseconds: Int64(number(offset)))
        }
        size = number(0)
        from = instant(6)
        streamCount = Int(payload[12])
        stretchCount = Int(payload[13] & 15)
        guard streamCount <= Self.streamCapacity, stretchCount <= Self.stretchCapacity
        else { return nil }
        for index in 0..<streamCount { streams[index] = number(14 + 6 * index) }
        for index in 0..<stretchCount {
            let offset = Self.stretchesOffset + Self.stretchBytes * index
            stretches[index] = Stretch(
                product: payload.uint32(at: offset),
                isKept: payload[13] & (16 << UInt8(index)) != 0,
                start: instant(offset + 4),
                end: instant(offset + 10),
                keptSince: instant(offset + 16)
            )
        }
    }
}

/// A product as a store names it.
struct ProductKey: Hashable {
    var store: String
    var productID: String
}
