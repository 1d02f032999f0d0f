/// Randomness as an argument: the system's for a ledger, a seed's for tests.
public struct RandomSource: RandomNumberGenerator, Sendable {
    private let draw: @Sendable () -> UInt64

    /// Draws words from a closure.
    public init(_ draw: @escaping @Sendable () -> UInt64) {
        self.draw = draw
    }

    /// The system's cryptographically secure generator.
    public static let system = RandomSource {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }

    /// The next word.
    public mutating func next() -> UInt64 { draw() }
}
