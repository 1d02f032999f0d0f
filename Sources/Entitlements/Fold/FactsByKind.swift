/// Facts apart by their kind, so that a rule looks only at what it speaks about.
struct FactsByKind: Sendable {
    /// By kind; within a kind in the order that they came in.
    private let facts: [Fact]
    /// Where the facts of each kind end, by its raw value; they count from 1 to 40.
    private let ends: InlineArray<41, UInt32>

    /// Sorts facts into kinds; within a kind their order stays.
    init(_ all: [Fact]) {
        var ends = InlineArray<41, UInt32>(repeating: 0)
        for fact in all { ends[Int(fact.kind.rawValue)] += 1 }
        for kind in 1..<41 { ends[kind] += ends[kind - 1] }
        self.ends = ends
        var order = [Int](repeating: 0, count: all.count)
        // From behind, so that within a kind their order stays.
        for index in all.indices.reversed() {
            let kind = Int(all[index].kind.rawValue)
            ends[kind] -= 1
            order[Int(ends[kind])] = index
        }
        facts = order.map { all[$0] }
    }

    /// The facts of a kind, in their order.
    subscript(kind: EventKind) -> ArraySlice<Fact> {
        facts[Int(ends[Int(kind.rawValue) - 1])..<Int(ends[Int(kind.rawValue)])]
    }

    /// The facts of two kinds, one kind after the other.
    subscript(first: EventKind, second: EventKind) -> ArraySlice<Fact> {
        let (left, right) = (self[first], self[second])
        if left.isEmpty { return right }
        return right.isEmpty ? left : left + right
    }

    /// When each of them holds, in no order.
    var times: [Instant] { facts.map(\.time) }
}
