import Encodings
import Entitlements
import LMDB

/// What the access table keeps of a customer: the stretches that unlock something, and the streams
/// that they were folded from.
///
/// It holds as long as none of these streams, and no catalog, has moved: an event that could change
/// it would be recorded under one of them.
///
/// Packed into 104 bytes, so that a slot of the table is two cache lines: size and instant (48 bits
/// each), counts (8 bits each; the second with a bit for each stretch that is kept, from bit 4 on),
/// four streams (48), three stretches of product (32), start, end and keptSince (48 each).
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

    /// As the table keeps it.
    var packed: FlatTable.Payload {
        var bits = PackedBits()
        bits.append(size, count: 48)
        bits.append(UInt64(bitPattern: from.milliseconds), count: 48)
        bits.append(UInt64(streamCount), count: 8)
        var counts = UInt64(stretchCount)
        for index in 0..<stretchCount where stretches[index].isKept { counts |= 16 << index }
        bits.append(counts, count: 8)
        for index in 0..<Self.streamCapacity { bits.append(streams[index], count: 48) }
        for index in 0..<Self.stretchCapacity {
            let stretch = stretches[index]
            bits.append(UInt64(stretch.product), count: 32)
            bits.append(UInt64(bitPattern: stretch.start.milliseconds), count: 48)
            bits.append(UInt64(bitPattern: stretch.end.milliseconds), count: 48)
            bits.append(UInt64(bitPattern: stretch.keptSince.milliseconds), count: 48)
        }
        return bits.words
    }

    /// Reads what ``packed`` wrote.
    init(_ packed: FlatTable.Payload) {
        var bits = PackedBits(words: packed)
        func instant() -> Instant { Instant(milliseconds: Int64(bits.next(48))) }
        size = bits.next(48)
        from = instant()
        streamCount = Int(bits.next(8))
        let counts = bits.next(8)
        stretchCount = Int(counts & 15)
        for index in 0..<Self.streamCapacity { streams[index] = bits.next(48) }
        for index in 0..<stretchCount {
            stretches[index] = Stretch(
                product: UInt32(bits.next(32)),
                isKept: counts & (16 << UInt64(index)) != 0,
                start: instant(),
                end: instant(),
                keptSince: instant()
            )
        }
    }
}

/// Numbers of some bits each, one after the other in a slot's words, the low bits first.
private struct PackedBits {
    var words = FlatTable.Payload(repeating: 0)
    private var position = 0

    init() {}

    init(words: FlatTable.Payload) { self.words = words }

    /// Appends a number that has no higher bits than these.
    mutating func append(_ number: UInt64, count: Int) {
        let (word, shift) = (position / 64, UInt64(position % 64))
        words[word] |= number << shift
        if Int(shift) + count > 64 { words[word + 1] |= number >> (64 - shift) }
        position += count
    }

    /// The number in the next bits.
    mutating func next(_ count: Int) -> UInt64 {
        let (word, shift) = (position / 64, UInt64(position % 64))
        var number = words[word] >> shift
        if Int(shift) + count > 64 { number |= words[word + 1] << (64 - shift) }
        position += count
        return number & ((1 << UInt64(count)) - 1)
    }
}

/// A product as a store names it.
struct ProductKey: Hashable {
    var store: String
    @Bytewise var productID: String
}
