/// Which rules an answer was made by (row Z11).
public enum RulesVersion {
    /// Raised whenever the same events may get another answer than before.
    public static let current: UInt16 = 1
}
