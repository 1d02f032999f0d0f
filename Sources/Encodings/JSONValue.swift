/// A JSON value (RFC 8259) that keeps numbers as written, so that money stays exact, and the
/// order of an object's members.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The number's text, which is valid JSON.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([JSONMember])

    /// Texts are equal where their bytes are.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let value), .bool(let other)): value == other
        case (.number(let text), .number(let other)): text == other
        case (.string(let text), .string(let other)): text.isSame(as: other)
        case (.array(let elements), .array(let others)): elements == others
        case (.object(let members), .object(let others)): members == others
        default: false
        }
    }

    /// An integer.
    package static func integer(_ value: some BinaryInteger) -> JSONValue { .number(String(value)) }

    /// A string, or null.
    package static func optional(_ value: String?) -> JSONValue {
        value.map { .string($0) } ?? .null
    }

    /// Strings.
    package static func strings(_ values: [String]) -> JSONValue {
        .array(values.map { .string($0) })
    }

    /// An object from name and value pairs, in their order.
    package static func members(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { JSONMember($0.key, $0.value) })
    }

    /// The member of an object, nil for other values and where there is none.
    public subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name.isSame(as: name) }?.value
    }

    /// The text of a string.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The elements of an array.
    public var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members of an object.
    public var members: [JSONMember]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The truth value.
    public var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// An integer written without fraction or exponent, within 64 bits.
    public var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text)
    }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }
}

extension JSONValue: ExpressibleByStringLiteral {
    /// A JSON string.
    public init(stringLiteral value: String) { self = .string(value) }
}

/// One name and its value in a JSON object.
public struct JSONMember: Hashable, Sendable {
    /// The member's name.
    @Bytewise public var name: String
    /// The member's value.
    public var value: JSONValue

    /// Makes a member.
    public init(_ name: String, _ value: JSONValue) {
        self.name = name
        self.value = value
    }
}
