/// The size of the log that the next answer must have seen.
struct LeastSize: Sendable {
    private var size: UInt64?
    /// The size that a server did not come to when it was asked for it; nil: there was none, or it has come to
    /// it since.
    private(set) var missed: UInt64?

    /// Asks for a size, once: a server that was restored to less never comes that far again.
    mutating func ask(for asked: UInt64?) {
        if let asked, asked != missed { size = max(asked, size ?? 0) }
    }

    /// Hands the size out to the question that asks for it; nil: any will do.
    mutating func take() -> UInt64? {
        defer { size = nil }
        return size
    }

    /// Notes that the server did not come to a size.
    mutating func miss(_ asked: UInt64?) { missed = asked }

    /// Notes what an answer has seen.
    mutating func see(_ seen: UInt64) {
        if let asked = missed, seen >= asked { missed = nil }
    }
}
