package import Encodings

/// How long the stages of purchase flows took (row 10.3), and which are slow (row 10.4).
package struct StageReport: Sendable, Hashable {
    /// How often a stage took so many milliseconds.
    package private(set) var stages: [Name: [Int64: Int]] = [:]

    /// How slow a stage may be before it raises a warning.
    package struct Thresholds: Sendable, Hashable {
        /// Milliseconds for stages that are not named.
        package var usual: Int64
        /// Milliseconds by the stage's name.
        package var named: [Name: Int64]

        /// The milliseconds that the 95th percentile of a stage may take, unless told.
        package static let defaultMilliseconds: Int64 = 5_000
        /// Stages that may have a threshold of their own.
        package static let countLimit = 100

        /// Makes thresholds.
        package init(usual: Int64 = defaultMilliseconds, named: [Name: Int64] = [:]) {
            self.usual = usual
            self.named = named
        }

        /// Reads `STAGE:MILLISECONDS,…`; `MILLISECONDS` alone is for all that are not named.
        ///
        /// Nil for anything else, and for a stage that is named twice.
        package init?(_ text: String) {
            self.init()
            var hasUsual = false
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            guard parts.count <= Self.countLimit else { return nil }
            for part in parts {
                let colon = part.lastIndex(of: ":")
                let digits = colon.map { part[part.index(after: $0)...] } ?? part
                guard let milliseconds = Int64(digits),
                    (0...FieldShape.longestDuration).contains(milliseconds)
                else { return nil }
                let name = colon.map { String(part[..<$0]) }
                if let name {
                    guard !name.isEmpty, named.updateValue(milliseconds, forKey: Name(name)) == nil
                    else { return nil }
                } else {
                    if hasUsual { return nil }
                    (usual, hasUsual) = (milliseconds, true)
                }
            }
        }

        /// The milliseconds that a stage may take.
        package func milliseconds(of stage: String) -> Int64 { named[stage] ?? usual }
    }

    /// An empty report.
    package init() {}

    /// A report of times that were summed up.
    init(stages: [Name: [Int64: Int]]) { self.stages = stages }

    /// Counts the stages of one statement.
    package mutating func add(_ fact: FlowFact, _ names: FactNames) {
        for stage in fact.stages {
            stages[Name(names[stage.name]), default: [:]][stage.milliseconds, default: 0] += 1
        }
    }

    /// Adds what was counted elsewhere.
    package mutating func merge(_ other: StageReport) {
        stages.merge(other.stages) { $0.merging($1, uniquingKeysWith: +) }
    }

    /// Percentiles by the nearest rank: exact, each a time that was measured.
    package struct Percentiles {
        private let times: [(milliseconds: Int64, count: Int)]
        /// How many times were measured.
        package let count: Int

        /// Sorts times that were measured, with how often each was.
        package init(_ counts: [Int64: Int]) {
            times = counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            count = counts.values.reduce(0, +)
        }

        /// The smallest time that so many percent of all are not above.
        package subscript(percent: Int) -> Int64 {
            // By quotient and rest: the product may not fit.
            let (hundreds, rest) = count.quotientAndRemainder(dividingBy: 100)
            var left = max(1, hundreds * percent + (rest * percent + 99) / 100)
            for (milliseconds, count) in times {
                left -= count
                if left <= 0 { return milliseconds }
            }
            return 0
        }

        /// How many are above a time.
        package func count(above milliseconds: Int64) -> Int {
            // Fits: counts of what was recorded.
            times.reduce(0) { $0 + ($1.milliseconds > milliseconds ? $1.count : 0) }
        }
    }
}
