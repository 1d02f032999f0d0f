// The slots, and the protocol between one writer and any number of readers.
//
// A slot: key (16 bytes), sequence (4), checksum (4), payload (padded to 8).
// sequence 0: free, a search ends here. Odd: being written. Even: whole. A key never moves and is
// never removed, so a search by linear probing needs no lock.
//
// Writer: sequence := odd; release fence; key, checksum, payload; sequence := even (release).
// Reader: load sequence (acquire); copy; acquire fence; load sequence again. If both are the same
// even number, no store of a writer fell between: a reader that saw one of the writer's later
// stores would, by the two fences, also see the odd number. All words are relaxed atomics, which
// cost what plain loads and stores cost and make the race defined.
//
// The checksum covers key and payload (`WordMix`): mapped bytes that a disk or a stray write has
// changed are not believed.

internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

struct MappedTableSlots: Sendable {
    let file: MappedFile
    let capacity: Int
    let payloadBytes: Int

    private static let sequenceOffset = 16
    private static let checksumOffset = 20
    private static let payloadOffset = 24

    /// After this many busy looks a reader lets other threads run.
    private static let spinLimit = 64
    /// After this many, a few milliseconds, a reader gives up: the writer died or sleeps inside the
    /// slot, and asking the source is faster than waiting.
    private static let attemptLimit = 4096

    static func slotBytes(payloadBytes: Int) -> Int {
        payloadOffset + (payloadBytes + 7) / 8 * 8
    }

    private var payloadWords: Int { (payloadBytes + 7) / 8 }

    /// The byte offset of a slot.
    @inline(__always)
    private func offset(_ slot: Int) -> Int {
        MappedTableHeader.byteCount
            + slot * MappedTableSlots.slotBytes(payloadBytes: payloadBytes)
    }

    /// Keys are digests, so their high bits are a hash already.
    @inline(__always)
    private func home(_ high: UInt64) -> Int {
        Int(truncatingIfNeeded: high >> (64 - UInt64(capacity.trailingZeroBitCount)))
    }

    /// Copies the payload of a key; false if there is none, or none that can be believed.
    func copyPayload(
        _ high: UInt64,
        _ low: UInt64,
        into target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        var slot = home(high)
        for _ in 0..<capacity {
            let base = offset(slot)
            switch unsafe copySlot(base, high, low, into: target) {
            case .otherKey: slot = (slot + 1) & (capacity - 1)
            case .found: return true
            case .free, .unreadable: return false
            }
        }
        return false
    }

    private enum Look {
        case found
        case free
        case otherKey
        case unreadable
    }

    @inline(__always)
    private func copySlot(
        _ base: Int,
        _ high: UInt64,
        _ low: UInt64,
        into target: UnsafeMutableRawBufferPointer
    ) -> Look {
        for attempt in 0..<MappedTableSlots.attemptLimit {
            if attempt > MappedTableSlots.spinLimit { _ = sched_yield() }
            let before = file.loadAcquiring(base + MappedTableSlots.sequenceOffset)
            if before == 0 { return .free }
            guard before & 1 == 0 else { continue }
            // A whole slot's key never changes, so it needs no second look.
            guard file.load(base) == high, file.load(base + 8) == low else { return .otherKey }
            let checksum = file.loadHalf(base + MappedTableSlots.checksumOffset)
            var mix = WordMix()
            mix.add(high)
            mix.add(low)
            for word in 0..<payloadWords {
                let value = file.load(base + MappedTableSlots.payloadOffset + word * 8)
                unsafe target.storeBytes(of: value, toByteOffset: word * 8, as: UInt64.self)
                mix.add(value)
            }
            atomicMemoryFence(ordering: .acquiring)
            let after = file.loadHalf(base + MappedTableSlots.sequenceOffset)
            guard before == after else { continue }
            return mix.half == checksum ? .found : .unreadable
        }
        return .unreadable
    }

    /// The byte offset of a key's slot, or of the free one it belongs in; `nil` if there is none.
    func place(_ high: UInt64, _ low: UInt64) -> (offset: Int, isFree: Bool)? {
        var slot = home(high)
        for _ in 0..<capacity {
            let base = offset(slot)
            if file.loadHalf(base + MappedTableSlots.sequenceOffset) == 0 { return (base, true) }
            if file.load(base) == high, file.load(base + 8) == low { return (base, false) }
            slot = (slot + 1) & (capacity - 1)
        }
        return nil
    }

    /// Writes a slot; one writer at a time.
    func write(_ high: UInt64, _ low: UInt64, _ payload: Span<UInt8>, at base: Int) {
        let sequence = file.loadHalf(base + MappedTableSlots.sequenceOffset) & ~1
        file.storeHalf(sequence | 1, base + MappedTableSlots.sequenceOffset)
        atomicMemoryFence(ordering: .releasing)
        file.store(high, base)
        file.store(low, base + 8)
        var mix = WordMix()
        mix.add(high)
        mix.add(low)
        for word in 0..<payloadWords {
            let value = MappedTableSlots.word(word, of: payload)
            file.store(value, base + MappedTableSlots.payloadOffset + word * 8)
            mix.add(value)
        }
        file.storeHalf(mix.half, base + MappedTableSlots.checksumOffset)
        // Zero means free, so the count of writes skips it when it wraps.
        let next = sequence &+ 2 == 0 ? 2 : sequence &+ 2
        file.storeReleasing(next, base + MappedTableSlots.sequenceOffset)
    }

    /// The word whose bytes in memory are those of the payload, the last ones padded with zeros.
    @inline(__always)
    private static func word(_ position: Int, of payload: Span<UInt8>) -> UInt64 {
        let offset = position * 8
        guard offset + 8 > payload.count else {
            return payload.loadUInt64(at: offset).littleEndian
        }
        var value: UInt64 = 0
        for byte in offset..<payload.count {
            value |= UInt64(payload[byte]) << UInt64((byte - offset) * 8)
        }
        return value.littleEndian
    }
}
