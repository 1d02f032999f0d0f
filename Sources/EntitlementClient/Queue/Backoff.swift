import Entitlements

/// How long a call waits before it is tried again (row 8.1).
struct Backoff: Sendable {
    /// Milliseconds before the second try.
    var first: Int64 = 2000
    /// The longest pause.
    var longest: Int64 = 3_600_000
    /// Tries after which a call waits for somebody (row 8.1).
    var attemptLimit: Int64 = 12

    /// Milliseconds to wait behind so many tries: doubled each time, and a random part of the upper
    /// half of it, so that many devices do not come back at once.
    ///
    /// `asked`: what the server asks for; it is waited for in any case.
    func pause(after attempts: Int64, asked: Int64?, random: UInt64) -> Int64 {
        let doublings = min(max(attempts, 1), 31) - 1
        // Fits: a minute or so, doubled thirty times.
        let whole = min(longest, min(first, longest) << doublings)
        let half = whole / 2
        // Fits: less than half of the longest pause.
        let moved = half + Int64(random % UInt64(max(1, whole - half + 1)))
        return max(moved, asked ?? 0)
    }
}
