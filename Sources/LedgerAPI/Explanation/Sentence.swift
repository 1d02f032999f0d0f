import Encodings
import Entitlements

/// A sentence in each language, with places such as `{what}`.
typealias Sentence = ServiceErrorMessages.Texts

extension Sentence {
    /// The sentence in a language, its places filled in one pass: what stands in a name is never
    /// taken for a place.
    func filled(_ language: Language, _ values: [String: String]) -> String {
        let template = self[language]
        var text = ""
        var rest = template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            text += rest[..<open]
            text += values[String(rest[rest.index(after: open)..<close])] ?? ""
            rest = rest[rest.index(after: close)...]
        }
        text += rest
        // A full-width bracket has room of its own.
        if language == .traditionalChinese { text = text.replacing("） ", with: "）") }
        // A noun of ours may begin an English sentence.
        guard language == .english, template.hasPrefix("{what}"), let first = text.first else {
            return text
        }
        return first.uppercased() + text.dropFirst()
    }
}

extension Instant {
    private static let englishMonths = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Day and minute in UTC, as people of a language write them.
    func text(in language: Language) -> String {
        let minutes = Self.floor(milliseconds, 60_000)
        let days = Self.floor(minutes, 1440)
        let date = CivilDate(daysSinceEpoch: days)
        let minute = minutes - days * 1440
        let time = Self.twoDigits(minute / 60) + ":" + Self.twoDigits(minute % 60)
        switch language {
        case .english:
            return
                "\(date.day) \(Self.englishMonths[Int(date.month) - 1]) \(date.year), \(time) UTC"
        case .japanese: return "\(date.year)年\(date.month)月\(date.day)日 \(time)（UTC）"
        case .traditionalChinese:
            return "\(date.year) 年 \(date.month) 月 \(date.day) 日 \(time)（UTC）"
        }
    }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? quotient - 1 : quotient
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
