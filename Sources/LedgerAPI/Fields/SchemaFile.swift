package import Encodings
import Entitlements

extension Described {
    /// The JSON Schema, whose parts are described elsewhere.
    package static func schema(in place: Shape.Place) -> JSONValue {
        Shape.object(fields.members, isClosed: place == .file, in: place)
    }

    /// The kinds of answers that stand in it, each once, itself not.
    package static var parts: [any Described.Type] { reaching(shapes) }

    static func reference(in place: Shape.Place) -> String {
        (place == .interface ? "#/components/schemas/" : "#/$defs/") + fields.name
    }

    fileprivate static var shapes: [Shape] { fields.members.map(\.shape) }
}

/// The kinds of answers that stand in some shapes, and in those again; each once.
private func reaching(_ shapes: [Shape]) -> [any Described.Type] {
    var parts: [any Described.Type] = []
    var waiting = shapes.flatMap(\.described)[...]
    while let part = waiting.popFirst() {
        guard !parts.contains(where: { $0 == part }) else { continue }
        parts.append(part)
        waiting += part.shapes.flatMap(\.described)
    }
    return parts
}

/// A schema in a file of its own: `schemas/NAME.schema.json`, as `tools/check-schemas --write`
/// writes it.
package struct SchemaFile: Sendable {
    /// The file's name up to its first dot.
    package let name: String
    private let about: String?
    private let answer: (any Described.Type)?

    private init(_ name: String, _ answer: (any Described.Type)?, _ about: String? = nil) {
        self.name = name
        self.about = about
        self.answer = answer
    }

    /// Every schema that is made from fields.
    package static let all = [
        SchemaFile("common", nil),
        SchemaFile("can", AccessAnswer.self, "`can --json`."),
        SchemaFile("config", ConfigurationAnswer.self, "`config show --json`."),
        SchemaFile(
            "diff",
            DifferenceAnswer.self,
            "`diff --json`: values are those of `show`; null where a value stands, before or after null where a thing came or went."
        ),
        SchemaFile(
            "drift",
            DriftAnswer.self,
            "`drift --json`: customers folded again from the log, held against what the views answer."
        ),
        SchemaFile(
            "explain",
            ExplanationAnswer.self,
            "`explain --json`: steps and remarks name the rule and, where one says so, the event."
        ),
        SchemaFile(
            "purchases",
            PurchasesAnswer.self,
            "`GET /v1/customers/{id}/purchases`: each purchase as in `show`, and its periods."
        ),
        SchemaFile(
            "show",
            StateAnswer.self,
            "`show --json`, and each line that `show --questions` prints."
        ),
        SchemaFile("status", StatusAnswer.self, "`status --json`."),
        SchemaFile(
            "timeline",
            TimelineAnswer.self,
            "`timeline --json`: stretches over effective time, half-open, and the events behind them in the order of the log."
        ),
    ]

    /// The document.
    package var document: JSONValue {
        .object(
            [
                JSONMember("$schema", "https://json-schema.org/draft/2020-12/schema"),
                JSONMember(
                    "$id",
                    .string("https://entitlement-ledger.example/schemas/\(name).schema.json")
                ),
            ] + (answer.map(members) ?? Self.common)
        )
    }

    private func members(_ answer: any Described.Type) -> [JSONMember] {
        var members = [JSONMember("title", .string(answer.title))]
        if let about { members.append(JSONMember("description", .string(about))) }
        members.append(JSONMember("$comment", "Written by tools/check-schemas --write."))
        members += answer.schema(in: .file).members ?? []
        let parts = answer.parts.map { JSONMember($0.componentName, $0.schema(in: .file)) }
        if !parts.isEmpty { members.append(JSONMember("$defs", .object(parts))) }
        return members
    }

    private static var common: [JSONMember] {
        [
            JSONMember("title", "What several schemas share"),
            JSONMember(
                "$comment",
                "Limits of text are bytes of UTF-8; maxLength counts characters, so it is the looser of the two. Written by tools/check-schemas --write."
            ),
            JSONMember(
                "$defs",
                .object(
                    CommonShape.allCases.map { shape in
                        let about = shape.about.map { JSONMember("description", .string($0)) }
                        return JSONMember(
                            shape.rawValue,
                            .object([about].compactMap(\.self) + (shape.schema.members ?? []))
                        )
                    }
                )
            ),
        ]
    }
}

extension Described {
    /// The name of its component in the interface description.
    package static var componentName: String { fields.name }

    fileprivate static var title: String { fields.title }
}
