import Entitlements
import Testing

struct `An instant as a person types it` {
    private static let now = Instant(milliseconds: 1_767_225_600_000)

    @Test(arguments: [
        ("now", "2026-01-01T00:00:00.000Z"), ("-36h", "2025-12-30T12:00:00.000Z"),
        ("+30d", "2026-01-31T00:00:00.000Z"), ("-2w", "2025-12-18T00:00:00.000Z"),
        ("2026-02-28", "2026-02-28T00:00:00.000Z"),
        ("2026-02-28T23:00:00+01:00", "2026-02-28T22:00:00.000Z"),
        ("9999-12-31", "9999-12-31T00:00:00.000Z"), ("0001-01-01", "0001-01-01T00:00:00.000Z"),
    ])
    func `is one of these`(_ text: String, _ instant: String) {
        #expect(Instant(argument: text, now: Self.now)?.description == instant)
    }

    // Times out of range, and what is no time.
    @Test(arguments: [
        "", "soon", "-", "+", "-d", "36h", "-1.5h", "-36x", "--36h", "2026-02-29", "2026-13-01",
        "10000-01-01", "+999999999d", "-999999999d", "+9223372036854775807w",
        "+99999999999999999999d", "2026-01-01T00:00:00", "2026-01-01T24:00:00Z",
    ])
    func `is none of these`(_ text: String) {
        #expect(Instant(argument: text, now: Self.now) == nil)
    }
}
