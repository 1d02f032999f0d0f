import Encodings
import Entitlements

/// The schema of catalogs, made from the domain's list of what is read of them.
enum CatalogSchema {
    /// The document, to which an event adds members of its own.
    static var members: [JSONMember] {
        [
            JSONMember("$ref", "#/$defs/document"),
            JSONMember("unevaluatedProperties", .bool(false)),
            JSONMember("$defs", .members(["document": object(.document)])),
        ]
    }

    /// An object that may have other members: the app's own.
    private static func object(_ part: CatalogPart) -> JSONValue {
        let names = part.members.map(\.name)
        let required = part.members.filter(\.isRequired).map(\.name)
        let needed = names.map { name in
            JSONValue.members([
                "required": .strings([name]),
                "properties": .members([name: .members(["type": "object"])]),
            ])
        }
        return .object(
            [
                JSONMember("type", "object"),
                JSONMember("properties", .object(part.members.map(member))),
                JSONMember("required", .strings(required)),
            ] + (part.needsMember ? [JSONMember("anyOf", .array(needed))] : [])
        )
    }

    private static func member(_ member: CatalogPart.Member) -> JSONMember {
        let about = member.about.map { [JSONMember("description", .string($0))] } ?? []
        return JSONMember(member.name, .object(about + (schema(member.form).members ?? [])))
    }

    private static func schema(_ form: CatalogPart.Form) -> JSONValue {
        switch form {
        case .id: Shape.common(.name).schema(in: .file)
        case .store: Shape.common(.store).schema(in: .file)
        case .text: Shape.text.schema(in: .file)
        case .duration:
            .members(["type": "string", "pattern": .string(CatalogDuration.pattern)])
        case .choice(let words): Shape.words(words)
        case .integer(let range): Shape.integer(range)
        case .flag: Shape.boolean.schema(in: .file)
        case .tiers: tiers
        case .transition: transition
        case .list(let form): .members(["type": "array", "items": schema(form)])
        case .some(let form):
            .members(["type": "array", "items": schema(form), "minItems": .integer(1)])
        case .map(let form, let key):
            .members([
                "type": "object", "propertyNames": schema(key),
                "additionalProperties": schema(form),
            ])
        case .part(let part): object(part)
        case .orNull(let form):
            .members(["anyOf": .array([schema(form), .members(["type": "null"])])])
        }
    }

    private static var tiers: JSONValue {
        .members([
            "type": "array", "minItems": .integer(1), "uniqueItems": .bool(true),
            "prefixItems": .array([.members(["const": .string(Catalog.freeTier)])]),
            "items": schema(.id),
        ])
    }

    private static var transition: JSONValue {
        .members([
            "type": "array",
            "prefixItems": .array([
                Shape.integer.schema(in: .file), Shape.integer(Catalog.offsetSecondRange),
            ]),
            "minItems": .integer(2), "items": .bool(false),
        ])
    }
}
