import Entitlements
import EventLog

/// A customer's name as a cache knows it: 128 bits of a hash that is keyed anew each time a ledger
/// is opened.
///
/// Two names meet by chance once in 2^64 customers, and nobody can look for two that do: the key
/// never leaves the process, nor does the hash.
struct CustomerHash: Hashable, Sendable {
    /// Drawn when the ledger is opened.
    struct Key: Sendable {
        var high: UInt64
        var low: UInt64

        init(using randomness: RandomSource) {
            var randomness = randomness
            let bytes = randomness.bytes(16)
            high = bytes.span.uint64(at: 0)
            low = bytes.span.uint64(at: 8)
        }
    }

    let high: UInt64
    let low: UInt64

    /// Hashes the bytes of an id: what Unicode holds to be equivalent stays apart (row 9.4).
    ///
    /// SipHash under the process's seed and the key, twice; allocates nothing.
    init(_ customer: CustomerID, _ environment: StoreEnvironment, _ key: Key) {
        var high = Hasher()
        var low = Hasher()
        high.combine(key.high)
        low.combine(key.low)
        let bytes = customer.text.utf8.span
        var position = 0
        while bytes.count - position >= 8 {
            let word = bytes.uint64(at: position)
            high.combine(word)
            low.combine(word)
            position += 8
        }
        var rest: UInt64 = 0
        while position < bytes.count {
            rest = rest << 8 | UInt64(bytes[position])
            position += 1
        }
        // The length tells names apart whose last bytes are zeros.
        let end = UInt64(bytes.count) << 8 | UInt64(environment.rawValue)
        high.combine(rest)
        high.combine(end)
        low.combine(rest)
        low.combine(end)
        self.high = UInt64(bitPattern: Int64(high.finalize()))
        self.low = UInt64(bitPattern: Int64(low.finalize()))
    }

    func hash(into hasher: inout Hasher) { hasher.combine(low) }
}
