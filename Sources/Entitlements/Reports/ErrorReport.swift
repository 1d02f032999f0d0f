package import Encodings

/// Errors by their code, and those that come far more often than a while ago (row 10.5).
public struct ErrorReport: Sendable, Hashable {
    /// Errors by where they were met and what they are.
    package private(set) var errors: [Key: Counts] = [:]
    /// Flows that ended: what failed flows are a share of.
    package private(set) var attempts = Counts()
    /// When errors count.
    package let span: Span

    /// Where an error was met, and its code.
    package struct Key: Sendable, Hashable {
        /// Who met it.
        package var origin: Origin
        /// Its code.
        @Bytewise package var code: String

        /// Makes a key.
        package init(origin: Origin, code: String) {
            self.origin = origin
            self.code = code
        }
    }

    /// Who met an error.
    public enum Origin: String, Sendable, CaseIterable {
        /// A purchase flow failed (`flow.failed`).
        case flow
        /// Somebody recorded a failure (`failure.recorded`).
        case failure
        /// A signal failed verification (`signal.noted`, Stores, rule 5).
        case refusal
    }

    /// How many there were.
    package struct Counts: Sendable, Hashable {
        /// In the range that was asked for.
        package var inRange = 0
        /// In the last window.
        package var inWindow = 0
        /// In the windows before it.
        package var inBaseline = 0

        /// None.
        package init() {}
    }

    /// When errors count: in a range, in the last window before T, and in the windows before that.
    package struct Span: Sendable, Hashable {
        var range: Interval
        var window: Interval
        var baseline: Interval

        /// The instants of T that figures are made from: T, and where the windows begin.
        package var instants: [Instant] {
            [window.end, window.start, baseline.start].compactMap { $0 }
                .map { $0.advanced(byMilliseconds: -1) }
        }

        /// The window that ends at T, and as many before it as the rule looks back.
        package init(at: Instant, range: Interval, rule: AlertRule) {
            // Both lie far within 64 bits: the rule's limits see to it.
            let length = rule.windowMilliseconds
            let start = at.advanced(byMilliseconds: -length)
            let first = start.advanced(byMilliseconds: -length * Int64(rule.baselineWindows))
            let end = at.advanced(byMilliseconds: 1)
            self.range = Interval(start: range.start, end: Instant.earlier(range.end, end))
            window = Interval(start: start.advanced(byMilliseconds: 1), end: end)
            baseline = Interval(start: first.advanced(byMilliseconds: 1), end: window.start)
        }
    }

    /// An empty report.
    package init(_ span: Span) { self.span = span }

    /// A report of figures that were summed up in the same span.
    init(_ span: Span, errors: [Key: Counts], attempts: Counts) {
        (self.span, self.errors, self.attempts) = (span, errors, attempts)
    }

    /// Counts errors of one code.
    package mutating func add(_ key: Key, at time: Instant, count: Int = 1) {
        errors[key, default: Counts()].add(time, count, span)
    }

    /// Counts a statement of a flow: an attempt if it ends there, and an error if it failed.
    package mutating func add(_ fact: FlowFact, _ names: FactNames) {
        guard FlowFact.isEnd(fact.kind) else { return }
        attempts.add(fact.time, 1, span)
        if let key = Self.key(of: fact, names) { add(key, at: fact.time) }
    }

    /// The error that a statement of a flow tells; nil: it failed not.
    static func key(of fact: FlowFact, _ names: FactNames) -> Key? {
        guard fact.kind == .flowFailed else { return nil }
        return Key(
            origin: .flow,
            code: fact.errorCode.map { names[$0] } ?? unknownCode
        )
    }

    /// The code of a flow that failed without one.
    package static let unknownCode = "UNKNOWN_ERROR"

    /// Adds what was counted elsewhere in the same span.
    package mutating func merge(_ other: ErrorReport) {
        errors.merge(other.errors, uniquingKeysWith: Counts.sum)
        attempts = Counts.sum(attempts, other.attempts)
    }
}

extension ErrorReport.Counts {
    fileprivate mutating func add(_ time: Instant, _ count: Int, _ span: ErrorReport.Span) {
        if span.range.contains(time) { inRange += count }
        if span.window.contains(time) { inWindow += count }
        if span.baseline.contains(time) { inBaseline += count }
    }

    fileprivate static func sum(_ left: Self, _ right: Self) -> Self {
        var sum = left
        sum.inRange += right.inRange
        sum.inWindow += right.inWindow
        sum.inBaseline += right.inBaseline
        return sum
    }
}
