import Encodings
import Entitlements

/// JSON text as it is written: bytes of UTF-8 without white space, members in their order.
public struct AnswerText: Hashable, Sendable {
    /// The text.
    public private(set) var bytes: [UInt8] = []
    /// The rules whose fields are written (`RulesVersion`).
    let version: UInt16
    /// Members that change with the clock alone, each with the comma before it where one stands there.
    private var echoes: [Range<Int>] = []

    /// Text that is empty.
    init(version: UInt16 = RulesVersion.current) { self.version = version }

    /// The text of an answer.
    package init<Answer: Described>(
        _ answer: Answer,
        version: UInt16 = RulesVersion.current,
        without name: String? = nil
    ) {
        self.init(version: version)
        bytes.reserveCapacity(512)
        Answer.fields.write(answer, to: &self, without: name)
    }

    /// The text without what it echoes of the question and without its token: the same bytes as
    /// long as the answer stands.
    ///
    /// Made to be compared: behind a member that an object begins with its comma stays.
    public var lasting: [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        var start = 0
        for echo in echoes {
            kept.append(contentsOf: bytes[start..<echo.lowerBound])
            start = echo.upperBound
        }
        kept.append(contentsOf: bytes[start...])
        return kept
    }

    /// The text in no more memory than it takes, for whoever keeps many.
    package var trimmed: [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        kept += bytes
        return kept
    }

    /// The text of an object with another object's members behind its own.
    ///
    /// `members`: JSON of an object that is not empty.
    package consuming func followed(by members: [UInt8]) -> [UInt8] {
        // Taken out, so that what is added stands behind it in the same memory.
        var whole = bytes
        bytes = []
        whole[whole.count - 1] = UInt8(ascii: ",")
        whole.append(contentsOf: members.dropFirst())
        return whole
    }
}

extension AnswerText: CustomStringConvertible {
    /// The text.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// What forms write.
extension AnswerText {
    /// An object, whose members the body writes.
    mutating func object(_ body: (inout AnswerText) -> Void) {
        bytes.append(UInt8(ascii: "{"))
        body(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    /// Adds members to the object that the text is.
    mutating func reopen(_ body: (inout AnswerText) -> Void) {
        bytes.removeLast()
        body(&self)
        bytes.append(UInt8(ascii: "}"))
    }

    /// A member of an object that was begun.
    ///
    /// `head`: its name in quotes and a colon.
    mutating func member(_ head: [UInt8], _ value: (inout AnswerText) -> Void) {
        // A brace as the last byte begins an object: a text ends with a quotation mark.
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        bytes.append(contentsOf: head)
        value(&self)
    }

    /// A member that changes with the clock alone.
    mutating func echo(_ member: (inout AnswerText) -> Void) {
        let start = bytes.count
        member(&self)
        echoes.append(start..<bytes.count)
    }

    /// An array.
    mutating func array<Element>(
        _ elements: [Element],
        _ element: (Element, inout AnswerText) -> Void
    ) {
        bytes.append(UInt8(ascii: "["))
        for index in elements.indices {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            element(elements[index], &self)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Digits, `true`, `false` or `null`.
    mutating func literal(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// A string; what JSON must not hold is escaped.
    mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        if bytes[start...].contains(where: Self.isEscaped) {
            bytes.removeSubrange(start...)
            for byte in text.utf8 { escape(byte) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// An instant as a string.
    mutating func instant(_ instant: Instant) {
        bytes.append(UInt8(ascii: "\""))
        RFC3339.append(milliseconds: instant.milliseconds, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Any JSON value.
    mutating func value(_ value: JSONValue) {
        switch value {
        case .null: literal("null")
        case .bool(let flag): literal(flag ? "true" : "false")
        case .number(let digits): literal(digits)
        case .string(let text): string(text)
        case .array(let elements): array(elements) { $1.value($0) }
        case .object(let members):
            object { text in
                for member in members {
                    text.member(Self.head(member.name)) { $0.value(member.value) }
                }
            }
        }
    }

    /// A member's name in quotes and a colon.
    static func head(_ name: String) -> [UInt8] {
        var text = AnswerText()
        text.string(name)
        return text.bytes + [UInt8(ascii: ":")]
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): literal("\\\"")
        case UInt8(ascii: "\\"): literal("\\\\")
        case UInt8(ascii: "\n"): literal("\\n")
        case UInt8(ascii: "\r"): literal("\\r")
        case UInt8(ascii: "\t"): literal("\\t")
        case 0..<0x20: literal("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
        default: bytes.append(byte)
        }
    }
}
