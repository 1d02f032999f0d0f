import Encodings
import Entitlements
import Foundation
import HTTPTypes
import LedgerAPI
import Testing

@testable import LedgerServer

/// The interface description, held against the command's schemas and the answers.
struct `The interface description` {
    private static let document = OpenAPIDocument.document(of: RouteTable.routes)

    private static func schema(_ name: String) throws -> JSONValue {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let data = try Data(contentsOf: folder.appending(path: "schemas/\(name).schema.json"))
        return try JSONValue(parsing: [UInt8](data))
    }

    /// `path: required` or `path: optional` for every member that a schema describes.
    private static func members(
        _ schema: JSONValue,
        root: JSONValue,
        at path: String = "$"
    )
        -> Set<String>
    {
        var found: Set<String> = []
        if let reference = schema["$ref"]?.string, reference.hasPrefix("#/") {
            let target = reference.dropFirst(2).split(separator: "/")
                .reduce(root as JSONValue?) { $0?[String($1)] }
            found.formUnion(members(target ?? .null, root: root, at: path))
        }
        for choice in schema["anyOf"]?.array ?? [] {
            found.formUnion(members(choice, root: root, at: path))
        }
        let required = (schema["required"]?.array ?? []).compactMap(\.string)
        for member in schema["properties"]?.members ?? [] {
            let place = path + "." + member.name
            let word = required.contains(member.name) ? "required" : "optional"
            found.insert("\(place): \(word)")
            found.formUnion(members(member.value, root: root, at: place))
        }
        if let items = schema["items"] {
            found.formUnion(members(items, root: root, at: path + "[]"))
        }
        if let values = schema["additionalProperties"], case .object = values {
            found.formUnion(members(values, root: root, at: path + "{}"))
        }
        return found
    }

    private static func shape(_ name: String) throws -> Set<String> {
        let schema = try #require(document["components"]?["schemas"]?[name])
        return members(schema, root: document)
    }

    @Test(arguments: [
        ("show", "State"), ("can", "Access"), ("timeline", "Timeline"),
        ("purchases", "Purchases"), ("explain", "Explanation"),
        ("whatif", "WhatIf"), ("receipt", "Receipt"),
        ("erasure", "Erasure"), ("audit", "Audit"),
        ("diff", "Difference"),
        ("report#CustomersReport", "CustomersReport"), ("report#RevenueReport", "RevenueReport"),
        ("report#RefundsReport", "RefundsReport"), ("report#FunnelReport", "FunnelReport"),
        ("report#StagesReport", "StagesReport"), ("report#ErrorsReport", "ErrorsReport"),
        ("report#ExperimentsReport", "ExperimentsReport"),
    ])
    func `has the members of the command's schemas`(
        _ file: String,
        _ shape: String
    ) throws {
        let parts = file.split(separator: "#").map(String.init)
        let root = try Self.schema(parts[0])
        let schema = parts.count == 1 ? root : root["$defs"]?[parts[1]]
        let expected = Self.members(try #require(schema), root: root)
        #expect(expected.count > 3)
        let found = try Self.shape(shape)
        #expect(found.subtracting(expected) == [])
        #expect(expected.subtracting(found) == [])
    }

    /// Whether a body's schema takes members that it does not name.
    private static func isOpen(_ schema: JSONValue) -> Bool {
        if let choices = (schema["anyOf"] ?? schema["oneOf"])?.array {
            return choices.contains(where: isOpen)
        }
        if let element = schema["items"] { return isOpen(element) }
        return schema["additionalProperties"] != .bool(false)
    }

    // A call refuses members that it does not know (`unknown_field`), and its description says so: but for
    // messages, events, catalogs and contexts, whose forms are others' too, and lines, which machines write.
    @Test func `takes what it does not know only where others say what is in it`() throws {
        var open: Set<String> = []
        for path in Self.document["paths"]?.members ?? [] {
            for method in path.value.members ?? [] {
                let content = method.value["requestBody"]?["content"]
                guard let schema = content?["application/json"]?["schema"] else { continue }
                if Self.isOpen(schema), let name = method.value["operationId"]?.string {
                    open.insert(name)
                }
            }
        }
        #expect(
            open == [
                "receiveAppStoreSignal", "receivePlaySignal", "receiveRevenueCatSignal",
                "recordEvents", "importLines", "publishCatalog", "compareCatalogs", "askWhatIf",
                "evaluateFlag", "evaluateFlags",
            ]
        )
    }

    @Test func `names no shape that is not there`() throws {
        func references(_ json: JSONValue) -> [String] {
            switch json {
            case .array(let values): values.flatMap(references)
            case .object(let members):
                members.flatMap { member in
                    member.name == "$ref"
                        ? [member.value.string ?? ""] : references(member.value)
                }
            default: []
            }
        }
        let named = Set(references(Self.document))
        #expect(named.count > 5)
        for reference in named {
            let name = try #require(reference.split(separator: "/").last)
            #expect(Self.document["components"]?["schemas"]?[String(name)] != nil, "\(reference)")
        }
    }

    @Test func `is what the server hands out, to anybody`() async throws {
        try await TestServer.with { server in
            let answer = try await server.send(.get, "/openapi.json")
            #expect(answer.status == 200 && answer.json == Self.document)
            #expect(answer.json["openapi"] == "3.1.1")
            let operations = (answer.json["paths"]?.members ?? []).flatMap {
                ($0.value.members ?? []).compactMap { $0.value["operationId"]?.string }
            }
            #expect(operations.count == RouteTable.routes.count)
            #expect(Set(operations).count == operations.count)
        }
    }

    // One status, two ways to say the same.
    @Test func `names both forms of a timeline`() throws {
        let operation = Self.document["paths"]?["/v1/customers/{id}/timeline"]?["get"]
        let content = try #require(operation?["responses"]?["200"]?["content"]?.members)
        #expect(content.map(\.name) == ["application/json", "image/svg+xml"])
        let statuses = try #require(operation?["responses"]?.members).map(\.name)
        #expect(Set(statuses).count == statuses.count)
    }

    @Test func `names every media type of a batch of events`() throws {
        let operation = Self.document["paths"]?["/v1/events"]?["post"]
        let content = try #require(operation?["requestBody"]?["content"]?.members)
        #expect(
            content.map(\.name) == [
                "application/json", "application/x-ndjson", "application/ndjson",
                "application/jsonl",
            ]
        )
    }

    // Controls of what every test of this folder is held against.
    @Test func `is missed by answers that it does not have`() throws {
        let route = try #require(RouteTable.routes.first { $0.operation == "checkFeature" })
        let body = #"""
            {"customer":"c","environment":"local","at":"2026-01-01T00:00:00.000Z","known":null,\#
            "sequence":1,"feature":"f","allowed":true,"usable":true,"refusal":null,\#
            "until":null,"reason":"free","sources":[],"limit":null,"validUntil":null,\#
            "requiredProducts":[],"token":null}
            """#
        func findings(_ status: Int, _ type: String, _ body: String) -> [String] {
            let answer = TestAnswer(status: status, headers: [.contentType: type], body: body)
            return AnswerAudit.findings(in: answer, route, isHead: false)
        }
        let json = "application/json"
        #expect(findings(200, json, body) == [])
        #expect(findings(418, json, body) != [])
        #expect(findings(200, "text/plain", body) != [])
        #expect(findings(200, json, body + "}") != [])
        #expect(findings(200, json, body.replacing("true", with: "1")) != [])
        #expect(findings(200, json, body.replacing(#""until":null,"#, with: "")) != [])
        #expect(findings(200, json, body.replacing("free", with: "luck")) != [])
        #expect(findings(200, json, body.replacing("{", with: #"{"more":1,"#)) != [])
        #expect(findings(404, ProblemAnswer.mediaType, "{}") != [])
        #expect(findings(404, json, "{}") != [])
    }
}
