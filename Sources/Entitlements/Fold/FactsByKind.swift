/// Facts apart by their kind, so that a rule looks only at what it speaks about.
struct FactsByKind: Sendable {
    private var facts: [[Fact]]
    /// When each of them holds, in no order.
    private(set) var times: [Instant] = []

    /// Sorts facts into kinds; within a kind their order stays.
    init(_ all: [Fact]) {
        facts = Array(repeating: [], count: EventKind.allCases.count + 1)
        times.reserveCapacity(all.count)
        for fact in all {
            facts[Int(fact.kind.rawValue)].append(fact)
            times.append(fact.time)
        }
    }

    /// The facts of a kind, in their order.
    subscript(kind: EventKind) -> [Fact] { facts[Int(kind.rawValue)] }

    /// The facts of two kinds, one kind after the other.
    subscript(first: EventKind, second: EventKind) -> [Fact] {
        let (left, right) = (self[first], self[second])
        if left.isEmpty { return right }
        return right.isEmpty ? left : left + right
    }
}
