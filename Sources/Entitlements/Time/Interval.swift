/// A half-open stretch of time `[start, end)`; an absent end is "without end".
public struct Interval: Hashable, Sendable {
    /// First instant inside.
    public var start: Instant
    /// First instant after the stretch; nil: without end.
    public var end: Instant?

    /// Makes a stretch; one that ends at or before its start is empty.
    public init(start: Instant, end: Instant?) {
        self.start = start
        self.end = end
    }

    /// Whether no instant lies inside.
    public var isEmpty: Bool { end.map { $0 <= start } ?? false }

    /// Whether the instant lies inside.
    public func contains(_ instant: Instant) -> Bool {
        start <= instant && (end.map { instant < $0 } ?? true)
    }

    /// The common part, nil if there is none.
    public func intersection(_ other: Interval) -> Interval? {
        let common = Interval(
            start: max(start, other.start),
            end: Instant.earlier(end, other.end)
        )
        return common.isEmpty ? nil : common
    }
}

extension Instant {
    /// The earlier of two ends, where nil is "without end".
    static func earlier(_ left: Instant?, _ right: Instant?) -> Instant? {
        guard let left else { return right }
        guard let right else { return left }
        return min(left, right)
    }
}

extension [Interval] {
    /// What is left of these stretches when others are taken away.
    ///
    /// O(n × m).
    func subtracting(_ taken: [Interval]) -> [Interval] {
        var left = filter { !$0.isEmpty }
        for hole in taken where !hole.isEmpty && !left.isEmpty {
            left = left.flatMap { stretch -> [Interval] in
                guard stretch.intersection(hole) != nil else { return [stretch] }
                var parts = [Interval(start: stretch.start, end: hole.start)]
                if let holeEnd = hole.end {
                    parts.append(Interval(start: holeEnd, end: stretch.end))
                }
                return parts.filter { !$0.isEmpty }
            }
        }
        return left
    }
}
