import EventLog

/// Says of most keys that a table does not have them (a Bloom filter of one word a key).
///
/// Sized for ``bitsPerKey`` it takes about one key in forty for present that is not.
package struct KeyFilter {
    package private(set) var words: [UInt64]

    private static let bitsPerKey = 12

    package static func wordCount(keys: Int) -> Int { keys * bitsPerKey / 64 + 1 }

    package init(words: [UInt64]) { self.words = words }

    package mutating func insert(_ key: UInt64) {
        let (word, bits) = place(of: key)
        words[word] |= bits
    }

    package func mayContain(_ key: UInt64) -> Bool {
        let (word, bits) = place(of: key)
        return words[word] & bits == bits
    }

    /// A word by the high bits of a mixed key, four bits in it by the low ones.
    private func place(of key: UInt64) -> (word: Int, bits: UInt64) {
        let hash = Self.mix(key)
        let word = hash.multipliedFullWidth(by: UInt64(words.count)).high
        let bits: UInt64 =
            1 << (hash & 63) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63)
            | 1 << (hash >> 18 & 63)
        return (Int(word), bits)
    }

    /// The finalizer of splitmix64 (Steele and others 2014): streams ascend, words are to be used
    /// alike.
    package static func mix(_ word: UInt64) -> UInt64 {
        var word = word &+ 0x9E37_79B9_7F4A_7C15
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
