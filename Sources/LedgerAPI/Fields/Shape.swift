package import Encodings
package import Entitlements

/// The shape of a JSON value (JSON Schema 2020-12), as the interface description and the schemas in
/// files state it.
package indirect enum Shape: Sendable {
    case text
    case identifier
    case instant
    /// T or R: an instant, a date, or `now`.
    case point
    /// A place in the log, or a number of records.
    case sequence
    /// A language tag (BCP 47).
    case languageTag
    /// What a store signs: a compact JWS.
    case signed
    /// Text that a regular expression matches.
    case pattern(String)
    /// What several schemas share.
    case common(CommonShape)
    /// A value of a field of an event (Model, "Events").
    case field(FieldShape)
    case integer
    /// An exact integer that may have more than 64 bits.
    case sum
    /// A number that may have decimals.
    case number
    case boolean
    /// True, where there is the member at all.
    case onlyTrue
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
    /// An answer with a list of fields, by its name.
    case described(any Described.Type)
    /// The fields of an answer themselves.
    case fields(of: any Described.Type)
    /// A definition of the same file, by its path there.
    case definition(String)
    /// An object that another file describes, and what it is.
    case file(String, String)
    /// An object whose members are described elsewhere.
    case document(String)
    case anything

    /// A member of an object.
    package struct Member: Sendable {
        package var name: String
        package var shape: Shape
        /// Whether it may be absent.
        var isOptional: Bool
        /// What it is, where its name does not say it.
        var about: String?

        package init(
            _ name: String,
            _ shape: Shape,
            isOptional: Bool = false,
            about: String? = nil
        ) {
            self.name = name
            self.shape = shape
            self.isOptional = isOptional
            self.about = about
        }

        /// A field of an event, by its name there.
        package init(_ field: Entitlements.Field) {
            self.init(field.name, .field(field.shape), about: field.about)
        }

        func schema(in place: Place) -> JSONMember {
            let about = about.map { [JSONMember("description", .string($0))] } ?? []
            return JSONMember(name, .object(about + (shape.schema(in: place).members ?? [])))
        }
    }

    /// Where a schema stands.
    package enum Place: Sendable {
        /// In the interface description: open to members that a later version adds.
        case interface
        /// In a file of its own: closed, as a test wants it.
        case file
    }

    /// The JSON Schema in the interface description.
    package var schema: JSONValue { schema(in: .interface) }

    /// The JSON Schema.
    package func schema(in place: Place) -> JSONValue {
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
        case .signed:
            Self.text(matching: "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$")
        case .pattern(let pattern): Self.text(matching: pattern)
        case .common(let shape):
            place == .interface
                ? shape.schema
                : .members([
                    "$ref": .string("common.schema.json#/$defs/\(shape.rawValue)")
                ])
        case .field(let shape): shape.schema(in: place)
        case .integer: .members(["type": "integer", "format": "int64"])
        case .sum: .members(["type": "integer"])
        case .number: .members(["type": "number"])
        case .boolean: .members(["type": "boolean"])
        case .onlyTrue: .members(["const": .bool(true)])
        case .choice(let words): Self.words(words)
        case .optional(let shape):
            .members(["anyOf": .array([shape.schema(in: place), .members(["type": "null"])])])
        case .list(let shape):
            .members(["type": "array", "items": shape.schema(in: place)])
        case .some(let shape):
            .members([
                "type": "array", "items": shape.schema(in: place), "minItems": .integer(1),
            ])
        case .map(let shape):
            .members(["type": "object", "additionalProperties": shape.schema(in: place)])
        case .object(let required, let optional, let isClosed):
            Self.object(
                required + optional.map { Member($0.name, $0.shape, isOptional: true) },
                isClosed: isClosed || place == .file,
                in: place
            )
        case .either(let shapes):
            .members(["anyOf": .array(shapes.map { $0.schema(in: place) })])
        case .named(let name): .members(["$ref": .string("#/components/schemas/\(name)")])
        case .described(let answer): .members(["$ref": .string(answer.reference(in: place))])
        case .fields(let answer): answer.schema(in: place)
        case .definition(let path): .members(["$ref": .string("#/$defs/" + path)])
        case .file(let name, _) where place == .file:
            .members(["$ref": .string(name + ".schema.json")])
        case .file(_, let text), .document(let text):
            .members(["type": "object", "description": .string(text)])
        case .anything: .object([])
        }
    }

    static func object(
        _ members: [Member],
        isClosed: Bool,
        in place: Place
    ) -> JSONValue {
        .object(
            [
                JSONMember("type", "object"),
                JSONMember("properties", .object(members.map { $0.schema(in: place) })),
                JSONMember(
                    "required",
                    .strings(members.filter { !$0.isOptional }.map(\.name))
                ),
            ] + (isClosed ? [JSONMember("additionalProperties", .bool(false))] : [])
        )
    }

    /// The kinds of answers that stand in it.
    var described: [any Described.Type] {
        switch self {
        case .described(let answer): [answer]
        case .fields(let answer): answer.parts
        case .optional(let shape), .list(let shape), .some(let shape), .map(let shape):
            shape.described
        case .either(let shapes): shapes.flatMap(\.described)
        case .object(let required, let optional, _):
            (required + optional).flatMap(\.shape.described)
        default: []
        }
    }

    static func words(_ words: [String]) -> JSONValue {
        .members(["type": "string", "enum": .strings(words)])
    }

    fileprivate static func text(matching pattern: String) -> JSONValue {
        .members(["type": "string", "pattern": .string(pattern)])
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
    /// The JSON Schema of what the field takes.
    fileprivate func schema(in place: Shape.Place) -> JSONValue {
        switch self {
        case .identifier: Shape.common(.identifier).schema(in: place)
        case .name: Shape.common(.name).schema(in: place)
        case .code: Shape.common(.code).schema(in: place)
        case .text: Shape.common(.freeText).schema(in: place)
        case .choice(let words): Shape.words(words)
        case .currency: Shape.text(matching: "^[A-Z]{3}$")
        case .instant: Shape.common(.eventInstant).schema(in: place)
        case .integer(let range): Shape.integer(range)
        case .flag: Shape.boolean.schema
        case .purchaseName: Shape.common(.purchaseName).schema(in: place)
        case .customers: list(.common(.identifier), 1...Self.customerLimit, in: place)
        case .names: list(.common(.name), 0...Self.nameLimit, in: place)
        case .durations:
            .members([
                "type": "object", "maxProperties": .integer(Self.durationLimit),
                "propertyNames": Shape.common(.code).schema(in: place),
                "additionalProperties": Shape.integer(0...Self.longestDuration),
            ])
        }
    }

    private func list(
        _ items: Shape,
        _ count: ClosedRange<Int>,
        in place: Shape.Place
    ) -> JSONValue {
        .members([
            "type": "array", "items": items.schema(in: place),
            "minItems": .integer(count.lowerBound), "maxItems": .integer(count.upperBound),
        ])
    }
}
