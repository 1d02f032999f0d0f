/// Who somebody is, as 64 bits that mean nothing outside of this process.
///
/// SipHash with the process's own random key: nobody can choose two names that meet, and tables of
/// them name nobody. Two names of a million meet with a chance of one in forty million.
struct IdentityHash: Hashable, Sendable {
    private let value: Int

    /// Hashes a name of some kind byte by byte, without Unicode's equivalence.
    init(kind: UInt8, _ name: String) {
        var hasher = Hasher()
        hasher.combine(kind)
        let bytes = name.utf8Span.span
        var word: UInt64 = 0
        for place in bytes.indices {
            word = word << 8 | UInt64(bytes[place])
            if place & 7 == 7 { hasher.combine(word) }
        }
        hasher.combine(word)
        hasher.combine(bytes.count)
        value = hasher.finalize()
    }

    /// Hashes 128 bits of some kind.
    init(kind: UInt8, _ high: UInt64, _ low: UInt64) {
        var hasher = Hasher()
        hasher.combine(kind)
        hasher.combine(high)
        hasher.combine(low)
        value = hasher.finalize()
    }
}
