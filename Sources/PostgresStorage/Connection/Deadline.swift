/// When something is given up, by a clock that nobody sets.
struct Deadline {
    private let end: ContinuousClock.Instant

    init(milliseconds: Int64) { end = .now + .milliseconds(milliseconds) }

    /// What is left.
    var milliseconds: Int64 {
        let left = ContinuousClock.now.duration(to: end).components
        // Fits: a wait lasts minutes at most.
        return left.seconds * 1000 + left.attoseconds / 1_000_000_000_000_000
    }
}
