import Entitlements

/// The shape of a JSON value, as the interface description states it (JSON Schema 2020-12).
indirect enum Shape: Sendable {
    case text
    case identifier
    case instant
    case integer
    case boolean
    case choice([String])
    case optional(Shape)
    case list(Shape)
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
    }

    /// The JSON Schema.
    var schema: JSONValue {
        switch self {
        case .text: .members(["type": "string"])
        case .identifier:
            .members(["type": "string", "minLength": .integer(1), "maxLength": .integer(1024)])
        case .instant: .members(["type": "string", "format": "date-time"])
        case .integer: .members(["type": "integer", "format": "int64"])
        case .boolean: .members(["type": "boolean"])
        case .choice(let words): .members(["type": "string", "enum": .strings(words)])
        case .optional(let shape):
            .members(["anyOf": .array([shape.schema, .members(["type": "null"])])])
        case .list(let shape): .members(["type": "array", "items": shape.schema])
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
}
