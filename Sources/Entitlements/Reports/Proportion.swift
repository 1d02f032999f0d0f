/// A share of a count, with how sure it is.
package struct Proportion {
    private let successes: Int
    private let trials: Int

    /// So many of so many.
    package init(successes: Int, trials: Int) {
        self.successes = successes
        self.trials = trials
    }

    /// 97.5 % of the standard normal lie below: two sides make 95 %.
    private static let z = 1.959_963_984_540_054

    /// The share; nil of nothing.
    package var rate: Double? { trials == 0 ? nil : Double(successes) / Double(trials) }

    /// The 95 % confidence interval by Wilson's score; nil of nothing.
    ///
    /// Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference",
    /// JASA 22, 1927.
    package var interval: (low: Double, high: Double)? {
        guard let rate else { return nil }
        let (n, z) = (Double(trials), Self.z)
        let scale = 1 + z * z / n
        let center = rate + z * z / (2 * n)
        let margin = z * (rate * (1 - rate) / n + z * z / (4 * n * n)).squareRoot()
        return (max(0, (center - margin) / scale), min(1, (center + margin) / scale))
    }

    /// How much larger the share is than another, with its 95 % confidence interval; nil if either
    /// is of nothing.
    ///
    /// Source: R. G. Newcombe, "Interval estimation for the difference between independent
    /// proportions", method 10, Statistics in Medicine 17, 1998.
    package func difference(to other: Proportion) -> (value: Double, low: Double, high: Double)? {
        guard let rate, let interval, let base = other.rate, let range = other.interval else {
            return nil
        }
        func length(_ left: Double, _ right: Double) -> Double {
            (left * left + right * right).squareRoot()
        }
        let value = rate - base
        return (
            value,
            value - length(rate - interval.low, range.high - base),
            value + length(interval.high - rate, base - range.low)
        )
    }
}
