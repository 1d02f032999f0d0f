import Encodings
import Entitlements

/// The schema of events, made from the domain's tables of attributes, kinds and fields.
enum EventSchema {
    /// An object of the attributes, with a rule for each kind: whom it speaks about, and its fields.
    static var members: [JSONMember] {
        let event = Shape.object(EventAttribute.allCases.map(attribute), isClosed: true, in: .file)
        let fields = fields.map { Shape.Member($0) } + [observedAt]
        return (event.members ?? []) + [
            JSONMember("allOf", .array(EventKind.allCases.map(rule))),
            JSONMember(
                "$defs",
                .members(["fields": .object(fields.map { $0.schema(in: .file) })])
            ),
        ]
    }

    /// The fields that are read and shown: what only the ledger records is shown without names
    /// (`schemas/erased-event.schema.json`).
    private static var fields: [Entitlements.Field] {
        let shapes = EventKind.allCases.filter { !$0.isLedgerOnly }.map(\.shape)
        return Entitlements.Field.allCases.filter { field in
            shapes.contains { $0.required.contains(field) || $0.optional.contains(field) }
        }
    }

    private static let observedAt = Shape.Member(
        Event.observedAtName,
        .field(.instant),
        isOptional: true,
        about: "When the source made the statement; default: time"
    )

    private static func attribute(_ attribute: EventAttribute) -> Shape.Member {
        let shape: Shape =
            switch attribute {
            case .specversion: .choice([EventAttribute.specificationVersion])
            case .id, .source: .common(.identifier)
            case .type: .choice(EventKind.allCases.map(\.name))
            case .subject: .text
            case .time, .recordedtime: .common(.eventInstant)
            case .environment: .common(.environment)
            case .sequence: .pattern("^[0-9]{20}$")
            case .datacontenttype: .anything
            case .data: .map(.anything)
            case .evidence: .optional(.text)
            }
        return Shape.Member(
            attribute.rawValue,
            shape,
            isOptional: !attribute.isRequired,
            about: attribute.about
        )
    }

    private static func rule(for kind: EventKind) -> JSONValue {
        let isCatalog = kind == .catalogPublished
        let type = JSONValue.members(["const": .string(kind.name)])
        let needsData = isCatalog || !kind.shape.required.isEmpty
        let then = JSONMember(
            "properties",
            .members([
                "subject": subject(of: kind), "data": isCatalog ? catalog : data(of: kind),
            ])
        )
        return .members([
            "if": .members([
                "properties": .members(["type": type]), "required": .strings(["type"]),
            ]),
            "then": .object(
                needsData ? [then, JSONMember("required", .strings(["data"]))] : [then]
            ),
        ])
    }

    private static func subject(of kind: EventKind) -> JSONValue {
        let subjects = kind.shape.subjects
        if subjects == [.catalog] { return .members(["const": "catalog"]) }
        let patterns = subjects.map(\.pattern).joined(separator: "|")
        return .members([
            "pattern": .string(subjects.count > 1 ? "^(\(patterns))$" : "^\(patterns)$")
        ])
    }

    /// The fields of a kind; some have a shape of their own in it.
    private static func data(of kind: EventKind) -> JSONValue {
        let shape = kind.shape
        let fields = kind.isLedgerOnly ? [] : shape.required + shape.optional
        return Shape.object(
            fields.map { field in
                let own = shape.subjects.map { field.shape(in: kind, about: $0) }
                    .first { $0 != field.shape }
                return Shape.Member(
                    field.name,
                    own.map { .field($0) } ?? definition(field.name),
                    isOptional: !shape.required.contains(field)
                )
            } + [Shape.Member(observedAt.name, definition(observedAt.name), isOptional: true)],
            isClosed: true,
            in: .file
        )
    }

    private static func definition(_ field: String) -> Shape { .definition("fields/" + field) }

    private static var catalog: JSONValue {
        let observedAt = Shape.Member(observedAt.name, definition(observedAt.name))
        return .members([
            "$ref": "catalog.schema.json#/$defs/document",
            "properties": .object([observedAt.schema(in: .file)]),
            "unevaluatedProperties": .bool(false),
        ])
    }
}

extension Subject.Kind {
    /// What a subject's text form is as a part of a regular expression.
    fileprivate var pattern: String {
        switch self {
        case .purchase: "purchase/" + CommonShape.purchasePattern
        case .customer: "customer/" + CommonShape.identifierPattern
        case .store: "store/" + CommonShape.storePattern
        case .catalog: "catalog"
        }
    }
}
