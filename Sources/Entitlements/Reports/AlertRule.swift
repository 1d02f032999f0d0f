/// When errors of a code come far more often than a while ago.
///
/// The last window is held against the windows before it. Both counts are taken for Poisson's; the
/// score is the variance-stabilised test that their rates are equal, `2 (√(x + 3/8) − √(r (b +
/// 3/8))) / √(1 + r)`, which is close to the standard normal if they are (K. Gu, H. K. T. Ng, M. L.
/// Tang, W. R. Schucany, "Testing the ratio of two Poisson rates", Biometrical Journal 50, 2008).
/// Here x counts the window, b the baseline, and r is how much shorter the window is: in attempts
/// where errors are a share of these, so that twice the customers raise no alert, else in time.
public struct AlertRule: Sendable, Hashable {
    /// Length of a window.
    public var windowMilliseconds: Int64
    /// Windows that the last one is held against.
    public var baselineWindows: Int
    /// The score from which on it is an alert.
    public var score: Double
    /// Fewer errors in the window raise none.
    public var minimumCount: Int

    /// Minutes of a window, unless told.
    public static let defaultWindowMinutes: Int64 = 60
    /// Windows looked back, unless told: a day of hours.
    public static let defaultBaselineWindows = 24
    /// The score, unless told: by chance once in some thirty thousand windows and codes.
    public static let defaultScore = 4.0
    /// The least count, unless told.
    public static let defaultMinimumCount = 5
    /// A window lasts at most a leap year.
    public static let windowMinuteRange: ClosedRange<Int64> = 1...527_040
    /// How far it may look back.
    public static let baselineRange = 1...1000
    /// Scores that make sense.
    public static let scoreRange = 0.0...1000.0
    /// Counts that make sense.
    public static let minimumCountRange = 1...1_000_000_000

    /// Makes a rule; nil for numbers out of their ranges.
    public init?(
        windowMinutes: Int64 = defaultWindowMinutes,
        baselineWindows: Int = defaultBaselineWindows,
        score: Double = defaultScore,
        minimumCount: Int = defaultMinimumCount
    ) {
        guard Self.windowMinuteRange.contains(windowMinutes),
            Self.baselineRange.contains(baselineWindows), Self.scoreRange.contains(score),
            Self.minimumCountRange.contains(minimumCount)
        else { return nil }
        self.init(windowMinutes, baselineWindows, score, minimumCount)
    }

    /// The rule, unless told.
    public static let usual = AlertRule(
        defaultWindowMinutes,
        defaultBaselineWindows,
        defaultScore,
        defaultMinimumCount
    )

    private init(_ minutes: Int64, _ windows: Int, _ score: Double, _ minimumCount: Int) {
        windowMilliseconds = minutes * 60_000
        baselineWindows = windows
        self.score = score
        self.minimumCount = minimumCount
    }

    /// What the rule says of a code.
    package struct Verdict: Sendable, Hashable {
        /// Errors that the window would have at the baseline's rate.
        package var expected: Double
        /// How far it is from that, in standard deviations.
        package var score: Double
        /// Whether it is an alert.
        package var isAlert: Bool
    }

    /// Judges a code.
    ///
    /// - Parameters:
    ///   - window: errors in the window.
    ///   - baseline: errors in the windows before it.
    ///   - attempts: what they are a share of, in both; nil: of the time.
    /// - Returns: the rule's verdict.
    package func verdict(
        window: Int,
        baseline: Int,
        attempts: (window: Int, baseline: Int)?
    ) -> Verdict {
        var ratio = 1 / Double(baselineWindows)
        if let attempts, attempts.window > 0, attempts.baseline > 0 {
            ratio = Double(attempts.window) / Double(attempts.baseline)
        }
        let (x, b) = (Double(window), Double(baseline))
        let distance = (x + 0.375).squareRoot() - (ratio * (b + 0.375)).squareRoot()
        let score = 2 * distance / (1 + ratio).squareRoot()
        return Verdict(
            expected: b * ratio,
            score: score,
            isAlert: window >= minimumCount && score >= self.score
        )
    }
}
