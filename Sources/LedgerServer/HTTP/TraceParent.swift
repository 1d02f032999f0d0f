/// The trace that a request is a part of, as its caller says it (W3C Trace Context, section 3.2).
///
/// Other text than numbers never reaches a log.
struct TraceParent: Equatable {
    /// As it came: version, trace, parent and flags, in lower-case hexadecimal.
    let text: String
    /// The trace's number, 32 digits.
    let trace: Substring
    /// The number of the caller's part of it, 16 digits.
    let parent: Substring
    /// Whether the caller's part is sent to whoever collects traces.
    let isSampled: Bool

    /// The header's name.
    static let field = "traceparent"

    /// Digits of each part of what this version of the standard says.
    private static let digitCounts = [2, 32, 16, 2]

    /// Reads the header's value; nil: it is none of this version's form.
    init?(_ value: String?) {
        guard let value, value.utf8.count == Self.digitCounts.reduce(3, +) else { return nil }
        let parts = value.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == Self.digitCounts,
            parts.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) }),
            // Version 255 is none, and nought is nobody's trace and nobody's part of one.
            parts[0] != "ff", parts[1].contains(where: { $0 != "0" }),
            parts[2].contains(where: { $0 != "0" })
        else { return nil }
        text = value
        (trace, parent) = (parts[1], parts[2])
        // The lowest bit of the flags; the others are not ours to know.
        isSampled = parts[3].last?.hexDigitValue.map { $0 & 1 == 1 } ?? false
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
        default: false
        }
    }
}
