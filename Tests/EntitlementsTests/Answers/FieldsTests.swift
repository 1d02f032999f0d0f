import Encodings
import Entitlements
import Foundation
import ModelSupport
import Testing

@testable import LedgerAPI

/// An answer's list of fields: what is written, read and described by it.
struct `A list of fields` {
    private struct Part: Described {
        var name: String
        var note: String?

        static let fields = Fields("Part", "A part", Self.init) {
            Field("name", \.name, .name)
            Field("note", \.note, .orAbsent(.text))
        }
    }

    private struct Whole: Described {
        var head: Part
        var count: UInt64
        var at: Instant?
        var parts: [Keyed<[Part]>]
        /// There since the second rules.
        var added: String?

        static let fields = Fields("Whole", "A whole", Self.init) {
            Field(inline: \.head)
            Field("count", \.count, .count).echoed
            Field("at", \.at, .orNull(.instant))
            Field("parts", \.parts, .map(.list(.object)))
            Field("added", \.added, .orNull(.text)).since(2, before: nil)
        }
    }

    private static let whole = Whole(
        head: Part(name: "a\"\\\n\u{1}é", note: nil),
        count: .max,
        at: nil,
        parts: [Keyed("é", [Part(name: "x", note: "")]), Keyed("e\u{301}", [])],
        added: "new"
    )

    private static let head = #"{"name":"a\"\\\n\u0001é","count":18446744073709551615,"#
    private static let tail = #""at":null,"parts":{"é":[{"name":"x","note":""}],"e\#u{301}":[]}"#

    @Test func `writes its members in their order, and reads them again`() throws {
        let text = AnswerText(Self.whole, version: 2)
        #expect(text.description == Self.head + Self.tail + #","added":"new"}"#)
        #expect(try Whole.fields.read(JSONValue(parsing: text.bytes)) == Self.whole)
    }

    // Row Z11: an answer is written again by the fields that its rules had.
    @Test func `leaves out what older rules did not have`() throws {
        let text = AnswerText(Self.whole, version: 1)
        #expect(text.description == Self.head + Self.tail + "}")
        var old = Self.whole
        old.added = nil
        #expect(try Whole.fields.read(JSONValue(parsing: text.bytes)) == old)
    }

    // Row 9.4: two ways to write an accent are two names.
    @Test func `is equal by the bytes of its texts`() {
        var other = Self.whole
        #expect(other == Self.whole)
        other.head.name = other.head.name.replacing("é", with: "e\u{301}")
        #expect(other.head.name == Self.whole.head.name && other != Self.whole)
    }

    @Test func `tells what changes with the clock alone from what lasts`() {
        var later = Self.whole
        later.count = 1
        #expect(AnswerText(later).bytes != AnswerText(Self.whole).bytes)
        #expect(AnswerText(later).lasting == AnswerText(Self.whole).lasting)
        later.head.name = "b"
        #expect(AnswerText(later).lasting != AnswerText(Self.whole).lasting)
    }

    @Test(arguments: [
        ("", "/name", "text"), (#""name":"a","count":-1"#, "/count", "an integer"),
        (#""name":"a","count":1,"at":"today""#, "/at", "an instant"),
        (#""name":"a","count":1,"at":null,"parts":[]"#, "/parts", "an object"),
        (#""name":"a","count":1,"at":null,"parts":{"p":[{"name":1}]}"#, "/parts/p/0/name", "text"),
    ])
    func `says where something else stands`(members: String, path: String, expected: String) {
        let fault = #expect(throws: InputFault.self) {
            try Whole.fields.read(JSONValue(parsing: Array("{\(members)}".utf8)))
        }
        #expect(fault == InputFault(.malformed, path, expected))
    }

    @Test func `describes its members`() {
        let schema = Whole.schema(in: .file)
        #expect(
            schema["required"]?.array?.compactMap(\.string)
                == ["name", "count", "at", "parts", "added"]
        )
        #expect(schema["additionalProperties"] == .bool(false))
        #expect(Whole.schema(in: .interface)["additionalProperties"] == nil)
        #expect(Whole.parts.map { $0.componentName } == ["Part"])
        let items = schema["properties"]?["parts"]?["additionalProperties"]?["items"]
        #expect(items?["$ref"] == "#/$defs/Part")
    }

    // Whatever a history makes of it: what is written is what is read.
    @Test func `of a state loses nothing`() throws {
        var texts: Set<Name> = []
        for seed: UInt64 in 1...60 {
            let history = RandomHistory(seed: seed)
            for question in history.questions {
                let answer = SlowModel(log: Array(history.log.prefix(question.prefix))).show(
                    customer: question.customer.text,
                    environment: question.environment,
                    at: question.at
                )
                let members = (answer.members ?? []).dropFirst(3)
                let state = try StateContent.fields.read(answer)
                let text = AnswerText(state).description
                #expect(text == JSONValue.object(Array(members)).description, "seed \(seed)")
                texts.insert(Name(text))
            }
        }
        #expect(texts.count > 50, "there was something to write")
    }

    @Test(arguments: SchemaFile.all.map(\.name))
    func `is what the schema in its file is made from`(name: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../schemas")
        let data = try Data(contentsOf: folder.appending(path: "\(name).schema.json"))
        let file = try #require(SchemaFile.all.first { $0.name == name })
        #expect(
            try JSONValue(parsing: Array(data)) == file.document,
            "tools/check-schemas --write"
        )
    }
}
