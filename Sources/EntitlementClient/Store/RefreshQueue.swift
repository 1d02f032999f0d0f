/// Which refresh answers whom: bursts share one, and whoever asks while one runs gets exactly one
/// more, since the one that runs may not have seen what they speak of (row ES4).
struct RefreshQueue: Sendable {
    /// The number of the refresh that was asked for last.
    private var last: UInt64 = 0
    private(set) var waiting: UInt64?
    private(set) var running: UInt64?

    /// Asks for a refresh; returns the number of the one that answers.
    mutating func ask() -> UInt64 {
        if let waiting { return waiting }
        last &+= 1
        waiting = last
        return last
    }

    /// Begins the refresh that waits; nil: none does, or one runs.
    mutating func begin() -> UInt64? {
        guard running == nil, let next = waiting else { return nil }
        (running, waiting) = (next, nil)
        return next
    }

    /// Ends the one that runs.
    mutating func end() { running = nil }
}
