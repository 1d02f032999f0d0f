/// Words from a seed (splitmix64, prng.di.unimi.it/splitmix64.c): the same seed makes the same ones.
package struct SeededWords: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Begins with a seed.
    package init(seed: UInt64) { state = seed }

    /// The next word.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(state)
    }

    /// A number that looks like no other.
    package static func mix(_ word: UInt64) -> UInt64 {
        var word = word
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    /// 0 to 99.
    package mutating func percent() -> Int { Int(next() % 100) }
}
