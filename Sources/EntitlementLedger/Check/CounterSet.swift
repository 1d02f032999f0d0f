/// Counters of streams, one bit each.
struct CounterSet: Sendable {
    private var words: [UInt64] = []

    /// A set of no more than 2^36 counters: a damaged record may state any number.
    private static let limit: UInt64 = 1 << 36

    /// Adds a counter.
    mutating func insert(_ counter: UInt64, upTo highest: UInt64) {
        guard counter > 0, counter <= highest, highest < Self.limit else { return }
        let place = Int(counter / 64)
        if place >= words.count {
            words += Array(repeating: 0, count: Int(highest / 64) + 1 - words.count)
        }
        words[place] |= 1 << (counter % 64)
    }

    /// Adds those of another set.
    mutating func formUnion(_ other: CounterSet) {
        if words.count < other.words.count {
            words += Array(repeating: 0, count: other.words.count - words.count)
        }
        for (place, word) in other.words.enumerated() { words[place] |= word }
    }

    /// How many there are.
    var count: UInt64 { words.reduce(0) { $0 + UInt64($1.nonzeroBitCount) } }
}
