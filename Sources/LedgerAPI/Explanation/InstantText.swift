import Encodings
package import Entitlements

/// Writes instants as people of a language do, in a time zone.
package struct InstantText: Sendable {
    let language: Language
    let zone: ResolvedZone

    /// Names language and zone.
    package init(language: Language, zone: ResolvedZone = .utc) {
        self.language = language
        self.zone = zone
    }

    private static let englishMonths = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Day and minute, with the offset from UTC that the zone has then.
    package func callAsFunction(_ instant: Instant) -> String {
        let minutes = minutes(instant)
        let time = Self.clock(minutes - Self.floor(minutes, 1440) * 1440)
        let offset = Self.offset(zone.offsetSeconds(at: instant))
        switch language {
        case .english: return "\(day(instant)), \(time) \(offset)"
        case .japanese, .traditionalChinese: return "\(day(instant)) \(time)（\(offset)）"
        }
    }

    /// The day in the zone.
    package func day(_ instant: Instant) -> String {
        let date = date(instant)
        switch language {
        case .english: return "\(date.day) \(Self.englishMonth(date)) \(date.year)"
        case .japanese: return "\(date.year)年\(date.month)月\(date.day)日"
        case .traditionalChinese: return "\(date.year) 年 \(date.month) 月 \(date.day) 日"
        }
    }

    /// The month in the zone.
    package func month(_ instant: Instant) -> String {
        let date = date(instant)
        switch language {
        case .english: return "\(Self.englishMonth(date)) \(date.year)"
        case .japanese: return "\(date.year)年\(date.month)月"
        case .traditionalChinese: return "\(date.year) 年 \(date.month) 月"
        }
    }

    private static func englishMonth(_ date: CivilDate) -> String {
        englishMonths[Int(date.month) - 1]
    }

    private func date(_ instant: Instant) -> CivilDate {
        CivilDate(daysSinceEpoch: Self.floor(minutes(instant), 1440))
    }

    /// Minutes since the epoch, as the zone's clocks show them.
    private func minutes(_ instant: Instant) -> Int64 {
        Self.floor(instant.milliseconds + zone.offsetSeconds(at: instant) * 1000, 60_000)
    }

    /// Empty where there is no instant.
    package func callAsFunction(_ instant: Instant?) -> String { instant.map { self($0) } ?? "" }

    /// `UTC`, or how far east or west of it.
    private static func offset(_ seconds: Int64) -> String {
        if seconds == 0 { return "UTC" }
        return "UTC" + (seconds < 0 ? "-" : "+") + clock(abs(seconds) / 60)
    }

    /// Hours and minutes of so many minutes.
    private static func clock(_ minutes: Int64) -> String {
        twoDigits(minutes / 60) + ":" + twoDigits(minutes % 60)
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? quotient - 1 : quotient
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
