import Entitlements
import Testing

/// How late a fact was recorded (Stores, rule 7).
struct `A fact` {
    private static let day = Instant.millisecondsPerDay

    /// What was said, what was recorded, and whether that is more than a day later.
    static let cases: [(Int64, Int64, Bool)] = [
        (0, 0, false), (0, day, false), (0, day + 1, true), (day, 0, false),
        // A damaged record may say whatever it likes of either.
        (.min, .max, true), (.max, .min, false), (.min, .min, false), (.max, .max, false),
        (-1, .max, true), (.min, 0, true), (0, .min, false), (1, .min, false),
    ]

    @Test(arguments: cases)
    func `is late more than a day after it was said`(
        _ saidAt: Int64,
        _ recordedAt: Int64,
        _ isLate: Bool
    ) {
        let found = Fact.isLate(
            saidAt: Instant(milliseconds: saidAt),
            recordedAt: Instant(milliseconds: recordedAt)
        )
        #expect(found == isLate)
    }
}
