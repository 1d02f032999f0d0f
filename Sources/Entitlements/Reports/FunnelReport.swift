package import Encodings

/// How purchase flows end, by product and platform (row 10.1).
///
/// A flow is what one customer id calls by one flow id. It counts once, at its earliest statement,
/// by the last end that it had at T; its product and platform are the first that are named.
package struct FunnelReport: Sendable, Hashable {
    /// The flows by what they were for.
    package private(set) var lines: [Key: Line] = [:]

    /// What is counted together; nil where no statement says it.
    package struct Key: Sendable, Hashable {
        /// The product id.
        @Bytewise package var productID: String?
        /// The platform, as the app calls it.
        @Bytewise package var platform: String?

        /// Makes a key.
        package init(productID: String?, platform: String?) {
            self.productID = productID
            self.platform = platform
        }
    }

    /// Flows by their last end; those that have none are open.
    package struct Line: Sendable, Hashable {
        /// All of them.
        package var flows = 0
        /// Flows that ended so.
        package var ends: [EventKind: Int] = [:]

        /// No flow.
        package init() {}
    }

    /// An empty report.
    package init() {}

    /// Adds the flows of one customer id.
    ///
    /// - Parameters:
    ///   - facts: all that is said of them, in any order.
    ///   - names: the texts of the facts.
    ///   - at: T; what was said of later times does not count yet.
    ///   - range: flows whose earliest statement lies in it count.
    package mutating func add(
        _ facts: some Collection<FlowFact>,
        _ names: FactNames,
        at: Instant,
        range: Interval
    ) {
        for (_, facts) in Dictionary(grouping: facts.filter { $0.time <= at }, by: \.flow) {
            let facts = facts.sorted(by: FlowFact.inTime)
            guard let first = facts.first, range.contains(first.time) else { continue }
            var standing = Standing()
            for fact in facts { standing.hear(fact, names) }
            lines[standing.key, default: Line()].flows += 1
            if let end = standing.end {
                lines[standing.key, default: Line()].ends[end, default: 0] += 1
            }
        }
    }

    /// What a flow is for and how it ended, by the statements so far.
    struct Standing: Hashable {
        private(set) var key = Key(productID: nil, platform: nil)
        private(set) var end: EventKind?

        /// Hears the next statement, in the order of their time.
        mutating func hear(_ fact: FlowFact, _ names: FactNames) {
            if key.productID == nil { key.productID = fact.product.map { names[$0] } }
            if key.platform == nil { key.platform = fact.platform.map { names[$0] } }
            if FlowFact.isEnd(fact.kind) { end = fact.kind }
        }
    }

    /// A report of figures that were summed up.
    init(lines: [Key: Line]) { self.lines = lines }

    /// Adds what was counted of other customers.
    package mutating func merge(_ other: FunnelReport) {
        lines.merge(other.lines) { left, right in
            var sum = left
            sum.flows += right.flows
            sum.ends.merge(right.ends, uniquingKeysWith: +)
            return sum
        }
    }
}
