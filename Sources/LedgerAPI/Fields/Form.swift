public import Encodings
import Entitlements

/// How a value stands in JSON: how it is written, how it is read, and its schema.
struct Form<Value: Sendable>: Sendable {
    let shape: Shape
    let write: @Sendable (Value, inout AnswerText) -> Void
    /// Reads a value; nil: there is no such member.
    let read: @Sendable (JSONValue?) throws -> Value
    /// Tells a value that is not written at all; nil: there is none such.
    var isAbsent: (@Sendable (Value) -> Bool)?

    /// A form whose text is read by a function that gives nil for what is none.
    init(
        _ shape: Shape,
        expected: String,
        write: @escaping @Sendable (Value, inout AnswerText) -> Void,
        read: @escaping @Sendable (JSONValue) -> Value?
    ) {
        self.init(shape, write: write) { json in
            guard let value = json.flatMap(read) else {
                throw InputFault(.malformed, "", expected)
            }
            return value
        }
    }

    init(
        _ shape: Shape,
        write: @escaping @Sendable (Value, inout AnswerText) -> Void,
        reading read: @escaping @Sendable (JSONValue?) throws -> Value
    ) {
        self.shape = shape
        self.write = write
        self.read = read
    }
}

/// Forms made of others.
extension Form {
    /// Null stands for no value.
    static func orNull<Some: Sendable>(_ form: Form<Some>) -> Self where Value == Some? {
        Form(
            .optional(form.shape),
            write: { value, text in
                if let value { form.write(value, &text) } else { text.literal("null") }
            },
            reading: { json in json == .null ? nil : try form.read(json) }
        )
    }

    /// The member is left out where there is no value.
    static func orAbsent<Some: Sendable>(_ form: Form<Some>) -> Self where Value == Some? {
        var optional = Form(
            form.shape,
            write: { value, text in if let value { form.write(value, &text) } },
            reading: { json in try json.map { try form.read($0) } }
        )
        optional.isAbsent = { $0 == nil }
        return optional
    }

    static func list<Element: Sendable>(_ form: Form<Element>) -> Self where Value == [Element] {
        Form(
            .list(form.shape),
            write: { elements, text in text.array(elements, form.write) },
            reading: { json in
                guard let elements = json?.array else {
                    throw InputFault(.malformed, "", "an array")
                }
                return try elements.enumerated().map { index, element in
                    try InputFault.at(index.description) { try form.read(element) }
                }
            }
        )
    }

    /// Values by names, in their order.
    static func map<Element: Sendable>(_ form: Form<Element>) -> Self
    where Value == [Keyed<Element>] {
        Form(
            .map(form.shape),
            write: { elements, text in
                text.object { text in
                    for element in elements {
                        text.member(AnswerText.head(element.name)) {
                            form.write(element.value, &$0)
                        }
                    }
                }
            },
            reading: { json in
                guard let members = json?.members else {
                    throw InputFault(.malformed, "", "an object")
                }
                return try members.map { member in
                    try InputFault.at(member.name) {
                        Keyed(member.name, try form.read(member.value))
                    }
                }
            }
        )
    }
}

extension Form where Value: Described {
    /// An object with a list of fields of its own.
    static var object: Self {
        Form(
            .described(Value.self),
            write: { value, text in Value.fields.write(value, to: &text) },
            reading: { json in
                guard let json, json.members != nil else {
                    throw InputFault(.malformed, "", "an object")
                }
                return try Value.fields.read(json)
            }
        )
    }
}

/// A value by its name, as a member of an object.
public struct Keyed<Value: Sendable>: Sendable {
    /// The name.
    @Bytewise public var name: String
    /// The value.
    public var value: Value

    /// Makes a pair.
    public init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }
}

extension Keyed: Equatable where Value: Equatable {}
extension Keyed: Hashable where Value: Hashable {}

extension Array {
    /// The value of a name; nil: there is none.
    package subscript<Value>(name: String) -> Value? where Element == Keyed<Value> {
        first { $0.name.isSame(as: name) }?.value
    }
}

extension InputFault {
    /// Says of a fault in a part where the part stands.
    static func at<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let fault as InputFault {
            throw InputFault(.malformed, "/" + name + fault.path, fault.detail)
        }
    }
}
