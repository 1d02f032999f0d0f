package import Entitlements

/// A language that this product speaks to customers.
public enum Language: String, CaseIterable, Sendable {
    /// English, which stands for every language that is not here.
    case english = "en"
    /// Japanese.
    case japanese = "ja"
    /// Chinese in traditional characters.
    case traditionalChinese = "zh-Hant"

    /// Bytes of an `Accept-Language` that are looked at.
    public static let headerByteLimit = 1024
    /// Language ranges of an `Accept-Language` that are looked at.
    public static let rangeLimit = 32

    /// The language that a request asks for, English where it asks for none of ours.
    ///
    /// Takes the value of `Accept-Language` (RFC 9110, section 12.5.4), several joined by commas;
    /// the lookup is that of RFC 4647, section 3.4. Ranges with a weight of 0 or a malformed one
    /// count for nothing; among equal weights the first wins. Cost: linear in at most 1024 bytes.
    public init(acceptLanguage header: String?) {
        var (best, bestWeight): (Language, Int) = (.english, 0)
        let bytes = (header ?? "").utf8.prefix(Self.headerByteLimit)
        for range in bytes.split(separator: UInt8(ascii: ",")).prefix(Self.rangeLimit) {
            guard let (language, weight) = Self.weighted(range), weight > bestWeight else {
                continue
            }
            (best, bestWeight) = (language, weight)
        }
        self = best
    }

    /// Reads a BCP 47 tag or range by RFC 4647's lookup; nil where it leads to none of ours.
    ///
    /// `zh-TW`, `zh-HK`, `zh-MO` and everything below `zh-Hant` are written in traditional
    /// characters. A bare `zh` does not say, and mostly means simplified ones.
    public init?(tag: String) {
        let subtags = tag.lowercased().split(separator: "-", omittingEmptySubsequences: false)
        switch subtags.first {
        case "en": self = .english
        case "ja": self = .japanese
        case "zh" where subtags.count > 1 && Self.traditional.contains(subtags[1]):
            self = .traditionalChinese
        default: return nil
        }
    }

    /// The tag under which a catalog has its texts.
    package var tag: LanguageTag? { LanguageTag(rawValue) }

    private static let traditional: Set<Substring> = ["hant", "tw", "hk", "mo"]

    /// One range with its weight in thousandths.
    private static func weighted(
        _ range: Substring.UTF8View.SubSequence
    ) -> (Language, weight: Int)? {
        let parts = String(decoding: range, as: UTF8.self)
            .split(separator: ";", omittingEmptySubsequences: false)
            .map { $0.filter { $0 != " " && $0 != "\t" } }
        guard let tag = parts.first, let language = Language(tag: tag) else { return nil }
        switch parts.count {
        case 1: return (language, 1000)
        case 2: return weight(parts[1]).map { (language, $0) }
        default: return nil
        }
    }

    /// Reads `q=0.812` in thousandths: 0 or 1 and at most three digits, at most 1 in all.
    private static func weight(_ text: String) -> Int? {
        let digits = Array(text.lowercased().utf8)
        guard digits.starts(with: "q=".utf8), digits.count > 2, digits.count <= 7,
            digits[2] == UInt8(ascii: "0") || digits[2] == UInt8(ascii: "1")
        else { return nil }
        var thousandths = Int(digits[2] - UInt8(ascii: "0")) * 1000
        guard digits.count == 3 || digits[3] == UInt8(ascii: ".") else { return nil }
        var unit = 100
        for digit in digits.dropFirst(4) {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            thousandths += Int(digit - UInt8(ascii: "0")) * unit
            unit /= 10
        }
        return thousandths <= 1000 ? thousandths : nil
    }
}
