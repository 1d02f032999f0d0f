import Entitlements
import EventLog

/// What the access table keeps of a customer: the stretches that unlock something, and the streams
/// that they were folded from.
///
/// It holds as long as none of these streams, and no catalog, has moved: an event that could change
/// it would be recorded under one of them.
struct AccessSlot {
    /// Size of the log that it was folded from.
    var size: UInt64
    /// It speaks of this instant and later ones.
    var from: Instant
    var streamCount = 0
    var streams: InlineArray<4, UInt64> = .init(repeating: 0)
    var stretchCount = 0
    var stretches: InlineArray<4, Stretch> = .init(repeating: Stretch())

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

    /// Without end.
    static let never = Instant(milliseconds: .max)
    static let capacity = 4
    static let payloadBytes = 24 + capacity * (8 + stretchBytes)
    private static let stretchBytes = 29

    init(size: UInt64, from: Instant) {
        self.size = size
        self.from = from
    }

    var encoded: [UInt8] {
        var writer = ByteWriter(reservingCapacity: Self.payloadBytes)
        writer.append(size)
        writer.append(from.milliseconds)
        writer.append(UInt32(streamCount))
        writer.append(UInt32(stretchCount))
        for index in 0..<Self.capacity { writer.append(streams[index]) }
        for index in 0..<Self.capacity {
            writer.append(stretches[index].product)
            writer.append(UInt8(stretches[index].isKept ? 1 : 0))
            writer.append(stretches[index].start.milliseconds)
            writer.append(stretches[index].end.milliseconds)
            writer.append(stretches[index].keptSince.milliseconds)
        }
        return writer.bytes
    }

    /// Reads a payload whose checksum was right; nil if its counts cannot be.
    init?(decoding payload: Span<UInt8>) {
        size = payload.uint64(at: 0)
        from = Instant(milliseconds: payload.int64(at: 8))
        streamCount = Int(payload.uint32(at: 16))
        stretchCount = Int(payload.uint32(at: 20))
        guard streamCount <= Self.capacity, stretchCount <= Self.capacity else { return nil }
        for index in 0..<streamCount { streams[index] = payload.uint64(at: 24 + 8 * index) }
        for index in 0..<stretchCount {
            let offset = 24 + 8 * Self.capacity + Self.stretchBytes * index
            stretches[index] = Stretch(
                product: payload.uint32(at: offset),
                isKept: payload[offset + 4] == 1,
                start: Instant(milliseconds: payload.int64(at: offset + 5)),
                end: Instant(milliseconds: payload.int64(at: offset + 13)),
                keptSince: Instant(milliseconds: payload.int64(at: offset + 21))
            )
        }
    }
}

/// A product as a store names it.
struct ProductKey: Hashable {
    var store: String
    var productID: String
}
