package import EventLog

/// One entry of an index: an event under a key.
///
/// Ascending by key, and under one key by sequence, is the order of every index.
@usableFromInline
package struct Posting: Equatable, Sendable {
    /// A stream's number, or the first bits of a signal's digest.
    @usableFromInline package var key: UInt64
    /// The sequence times 256, plus the tag: an event's kind, or further bits of the digest.
    @usableFromInline package var place: UInt64

    @inlinable
    package init(key: UInt64, sequence: UInt64, tag: UInt8) {
        self.key = key
        place = sequence << 8 | UInt64(tag)
    }

    @inlinable package var sequence: UInt64 { place >> 8 }
    @inlinable package var tag: UInt8 { UInt8(truncatingIfNeeded: place) }

    /// Sequences that a posting can hold.
    package static let sequenceLimit: UInt64 = 1 << 56

    /// An event under a stream that it names.
    @inlinable
    package init(stream: UInt64, sequence: UInt64, kind: UInt8) {
        self.init(key: stream, sequence: sequence, tag: kind)
    }

    /// An event under its signal: 48 bits of the digest find it, its record proves it.
    package init(signal: SignalDigest, sequence: UInt64) {
        self.init(
            key: Self.key(of: signal),
            sequence: sequence,
            tag: Self.tag(of: signal)
        )
    }

    package static func key(of signal: SignalDigest) -> UInt64 { signal.high >> 24 }
    package static func tag(of signal: SignalDigest) -> UInt8 {
        UInt8(truncatingIfNeeded: signal.high >> 16)
    }
}

extension [Posting] {
    /// How many keys there are, if they are in order.
    package var keyCount: Int {
        var count = 0
        var last: UInt64?
        for posting in self where posting.key != last {
            count += 1
            last = posting.key
        }
        return count
    }

    /// Sorts by key what ascends by sequence, and keeps that order under each key.
    ///
    /// Radix sort from the lowest digit in which keys differ: O(n) for each of a few passes.
    package mutating func sortByKey() {
        guard let first, count > Self.smallCount else {
            return sort { ($0.key, $0.place) < ($1.key, $1.place) }
        }
        var differing: UInt64 = 0
        for posting in self { differing |= posting.key ^ first.key }
        var sorted = self
        for shift in stride(from: UInt64(0), to: 64, by: Self.digitBits)
        where differing >> shift & Self.digitMask != 0 {
            sort(into: &sorted, byDigitAt: shift)
            swap(&self, &sorted)
        }
    }

    /// Below it comparing is as fast.
    private static let smallCount = 1024
    private static let digitBits = 11
    private static let digitMask: UInt64 = 1 << UInt64(digitBits) - 1

    /// One pass: stable by the digit at a shift.
    private func sort(into sorted: inout [Posting], byDigitAt shift: UInt64) {
        func digit(_ posting: Posting) -> Int { Int(posting.key >> shift & Self.digitMask) }
        var ends = [Int](repeating: 0, count: 1 << Self.digitBits)
        for posting in self { ends[digit(posting)] += 1 }
        var start = 0
        for index in ends.indices { (ends[index], start) = (start, start + ends[index]) }
        for posting in self {
            let place = digit(posting)
            sorted[ends[place]] = posting
            ends[place] += 1
        }
    }
}
