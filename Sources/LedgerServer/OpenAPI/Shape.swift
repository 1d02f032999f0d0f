import Encodings
import Entitlements

/// The shape of a JSON value, as the interface description states it (JSON Schema 2020-12).
indirect enum Shape: Sendable {
    case text
    case identifier
    case instant
    /// T or R: an instant, a date, or `now`.
    case point
    /// A place in the log, or a number of records.
    case sequence
    /// A language tag (BCP 47).
    case languageTag
    /// A client's name for a request.
    case idempotencyKey
    /// What a store signs: a compact JWS.
    case signed
    /// A value of a field of an event (Model, "Events").
    case field(FieldShape)
    case integer
    /// An exact integer that may have more than 64 bits.
    case sum
    /// A number that may have decimals.
    case number
    case boolean
    case choice([String])
    case optional(Shape)
    case list(Shape)
    /// A list with something in it.
    case some(Shape)
    case map(Shape)
    /// Members by name; those in the second list may be absent; no others if closed.
    case object([Member], optional: [Member] = [], isClosed: Bool = false)
    /// One of several.
    case either([Shape])
    /// A shape with a name of its own.
    case named(String)
    /// An object whose members are described elsewhere.
    case document(String)
    case anything

    /// A member of an object.
    struct Member: Sendable {
        var name: String
        var shape: Shape

        init(_ name: String, _ shape: Shape) {
            self.name = name
            self.shape = shape
        }

        /// A field of an event, by its name there.
        init(_ field: Field) { self.init(field.name, .field(field.shape)) }
    }

    /// The JSON Schema.
    var schema: JSONValue {
        switch self {
        case .text: .members(["type": "string"])
        case .identifier: Self.text(upTo: Identifier.byteLimit)
        case .instant: .members(["type": "string", "format": "date-time"])
        case .point:
            .members([
                "anyOf": .array([
                    Shape.instant.schema, .members(["type": "string", "format": "date"]),
                    Shape.choice(["now"]).schema,
                ])
            ])
        case .sequence: Self.integer(0...Int64.max)
        case .languageTag:
            .members([
                "type": "string", "maxLength": .integer(LanguageTag.byteLimit),
                "pattern": "^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$",
            ])
        case .idempotencyKey:
            .members([
                "type": "string",
                "pattern": .string("^[!-~]([ -~]{0,\(Call.keyByteLimit - 2)}[!-~])?$"),
            ])
        case .signed:
            .members([
                "type": "string",
                "pattern": "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$",
            ])
        case .field(let shape): shape.schema
        case .integer: .members(["type": "integer", "format": "int64"])
        case .sum: .members(["type": "integer"])
        case .number: .members(["type": "number"])
        case .boolean: .members(["type": "boolean"])
        case .choice(let words): .members(["type": "string", "enum": .strings(words)])
        case .optional(let shape):
            .members(["anyOf": .array([shape.schema, .members(["type": "null"])])])
        case .list(let shape): .members(["type": "array", "items": shape.schema])
        case .some(let shape):
            .members([
                "type": "array", "items": shape.schema, "minItems": .integer(1),
            ])
        case .map(let shape):
            .members(["type": "object", "additionalProperties": shape.schema])
        case .object(let required, let optional, let isClosed):
            .object(
                [
                    JSONMember("type", "object"),
                    JSONMember(
                        "properties",
                        .object((required + optional).map { JSONMember($0.name, $0.shape.schema) })
                    ),
                    JSONMember("required", .strings(required.map(\.name))),
                ] + (isClosed ? [JSONMember("additionalProperties", .bool(false))] : [])
            )
        case .either(let shapes): .members(["anyOf": .array(shapes.map(\.schema))])
        case .named(let name): .members(["$ref": .string("#/components/schemas/\(name)")])
        case .document(let text):
            .members(["type": "object", "description": .string(text)])
        case .anything: .object([])
        }
    }

    /// Text without control characters.
    ///
    /// Limits are bytes of UTF-8; `maxLength` counts characters, so it is the looser of the two.
    static func text(upTo limit: Int) -> JSONValue {
        .members([
            "type": "string", "minLength": .integer(1), "maxLength": .integer(limit),
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]+$",
        ])
    }

    static func integer(_ range: ClosedRange<Int64>) -> JSONValue {
        .members([
            "type": "integer", "format": "int64", "minimum": .integer(range.lowerBound),
            "maximum": .integer(range.upperBound),
        ])
    }
}

extension FieldShape {
    /// The JSON Schema of what the field takes, as schemas/event.schema.json has it.
    fileprivate var schema: JSONValue {
        switch self {
        case .identifier, .subjectName, .purchaseName: Shape.text(upTo: Identifier.byteLimit)
        case .name: Shape.text(upTo: Self.nameByteLimit)
        case .code: Self.codeSchema
        case .text: .members(["type": "string", "maxLength": .integer(Self.textByteLimit)])
        case .choice(let words): Shape.choice(words).schema
        case .currency: .members(["type": "string", "pattern": "^[A-Z]{3}$"])
        case .instant:
            .members([
                "type": "string", "format": "date-time",
                "pattern": "^(1999-12-31|2[01][0-9]{2}-[0-9]{2}-[0-9]{2}|2200-01-01)[Tt]",
            ])
        case .integer(let range): Shape.integer(range)
        case .flag: Shape.boolean.schema
        case .customers: list(Shape.text(upTo: Identifier.byteLimit), 1...Self.customerLimit)
        case .names: list(Shape.text(upTo: Self.nameByteLimit), 0...Self.nameLimit)
        case .durations:
            .members([
                "type": "object", "maxProperties": .integer(Self.durationLimit),
                "propertyNames": Self.codeSchema,
                "additionalProperties": Shape.integer(0...Self.longestDuration),
            ])
        }
    }

    private static let codeSchema = JSONValue.members([
        "type": "string",
        "pattern": .string("^[A-Za-z0-9\(Code.signs)]{1,\(Code.byteLimit)}$"),
    ])

    private func list(_ items: JSONValue, _ count: ClosedRange<Int>) -> JSONValue {
        .members([
            "type": "array", "items": items, "minItems": .integer(count.lowerBound),
            "maxItems": .integer(count.upperBound),
        ])
    }
}
