extension Instant {
    private static let unitMilliseconds: [Character: Int64] = [
        "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
    ]

    /// Years 1 to 9999: what RFC 3339 can write.
    static let writable: Range<Int64> = -62_135_596_800_000..<253_402_300_800_000

    /// Reads an instant as a person types it: RFC 3339 with an offset, a date (its midnight in
    /// UTC), `now`, or a distance from now such as `-36h` or `+30d`; nil if it is none of them, or
    /// leads beyond the years that can be written.
    public init?(argument text: String, now: Instant) {
        if text == "now" {
            self = now
            return
        }
        if let instant = Instant(rfc3339: text) ?? Instant(dateOnly: text) {
            self = instant
            return
        }
        guard let sign = text.first, sign == "-" || sign == "+", let unit = text.last,
            let unitLength = Self.unitMilliseconds[unit],
            let count = Int64(text.dropFirst().dropLast()), count >= 0
        else { return nil }
        let (distance, overflow) = count.multipliedReportingOverflow(by: unitLength)
        guard !overflow else { return nil }
        let instant = now.advanced(byMilliseconds: sign == "-" ? -distance : distance)
        guard Self.writable.contains(instant.milliseconds) else { return nil }
        self = instant
    }
}
