import EventLog

/// Which customers a check folds again: those whose streams' numbers follow a place, around the
/// end.
public struct CustomerSample: Sendable, Hashable {
    /// Where it begins; 0 is the first.
    public var start: UInt64
    /// How many customers at least, up to those that belong together with the last; nil: all.
    public var count: Int?

    /// Customers of a sample, unless it is said.
    package static let usualCount = 1000

    /// Makes a sample.
    public init(from start: UInt64 = 0, count: Int?) {
        self.start = start
        self.count = count
    }

    /// The components of a sample, and where the next one begins.
    func components(
        of components: StreamComponents
    ) -> (ranges: [Range<UInt32>], next: UInt64) {
        let counts = components.customerCounts
        let end = UInt32(counts.count)
        guard let count, end > 0 else { return ([0..<end], 0) }
        let first = Self.component(at: start, components)
        var (left, last) = (count, first)
        while last < end, left > 0 {
            left -= Int(counts[Int(last)])
            last += 1
        }
        guard last == end, left > 0 else {
            return ([first..<last], Self.counter(of: last, components))
        }
        var wrapped: UInt32 = 0
        while wrapped < first, left > 0 {
            left -= Int(counts[Int(wrapped)])
            wrapped += 1
        }
        return (
            [first..<end, 0..<wrapped], Self.counter(of: wrapped, components)
        )
    }

    /// The first component that begins at a counter or behind it; the first of all behind the last.
    private static func component(at counter: UInt64, _ components: StreamComponents) -> UInt32 {
        guard counter < UInt64(components.numbers.count) else { return 0 }
        // Components ascend with their lowest counters: what comes first there is one more.
        let before = components.numbers[..<Int(counter)].max()
        let next = before.map { $0 + 1 } ?? 0
        return next < UInt32(components.sizes.count) ? next : 0
    }

    /// The lowest counter of a component; 0 behind the last.
    private static func counter(of component: UInt32, _ components: StreamComponents) -> UInt64 {
        components.numbers.firstIndex(of: component).map { UInt64($0) } ?? 0
    }
}

extension Auditor {
    /// The highest place at which a sample may begin.
    ///
    /// Cost: one small read.
    public func highestSampleStart() throws -> UInt64 { try questions.log.end().highestCounter }
}
