/// A bounded dictionary that forgets its older half at once instead of entry by entry.
///
/// What is written stands in the young generation. Ageing makes the young one the old one and drops
/// what was old: an entry is gone after two ageings without being written. Every call is O(1), ageing
/// aside.
struct Generations<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Entries of one generation; both together hold at most twice as many.
    let limit: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    init(limit: Int) { self.limit = limit }

    /// Whether a new key makes it age.
    var isFull: Bool { young.count >= limit }

    /// Entries held, those that were written in both generations twice.
    var count: Int { young.count + old.count }

    subscript(key: Key) -> Value? { young[key] ?? old[key] }

    /// Writes an entry; ages if that would pass the limit.
    mutating func set(_ value: Value, for key: Key) {
        young[key] = value
        if young.count > limit { age() }
    }

    mutating func remove(_ key: Key) {
        young[key] = nil
        old[key] = nil
    }

    /// Forgets what has not been written since it aged before.
    mutating func age() {
        swap(&young, &old)
        young.removeAll(keepingCapacity: true)
    }
}
