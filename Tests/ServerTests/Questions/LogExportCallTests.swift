import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Testing

@testable import LedgerServer

/// A range of the log, or all of it, streamed over HTTP and received as files.
struct `An export of the log over HTTP` {
    private static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            for customer in ["alice-1", "bob-12"] {
                let grant = #"{"tier":"pro","grantId":"\#(customer)","reason":"because of me"}"#
                _ = try await server.post("/v1/customers/\(customer)/grants", grant)
            }
            try await body(server)
        }
    }

    private static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "received-" + UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    // Law 6, row 9.4: whoever audits is shown no name.
    @Test func `is whole, and names nobody but to whom all is shown`() async throws {
        try await Self.with { server in
            for (query, scope, isNamed) in [
                ("", Scope.audit, false), ("?redact=all", .audit, false), ("", .admin, false),
                ("?redact=none", .admin, true), ("?from=1&redact=signatures", .admin, true),
            ] {
                let answer = try await server.get("/v1/export" + query, as: scope)
                #expect(answer.status == 200, "\(answer.body)")
                let check = try ExportCheckAnswer(StreamedExport(answer.body), key: nil)
                let size = try server.ledger.questions.size()
                #expect(check.isOK && check.records == (query.contains("from=1") ? size - 1 : size))
                for name in ["alice-1", "bob-12", "because of me"] {
                    #expect(answer.body.contains(name) == isNamed, "\(query)")
                }
            }
            for redaction in ["none", "signatures", "names"] {
                let path = "/v1/export?redact=" + redaction
                let answer = try await server.get(path, as: .audit)
                #expect(answer.status == 403 && answer.code == "forbidden")
            }
        }
    }

    @Test(arguments: [
        ("?from=2&to=2", "empty_range"), ("?from=9", "empty_range"), ("?to=0", "empty_range"),
        ("?from=2100-01-01", "empty_range"), ("?from=x", "invalid_value"),
        ("?to=-1", "invalid_value"), ("?redact=some", "invalid_value"),
        // The control.
        ("?from=2000-01-01&to=2100-01-01T00:00:00Z", nil),
    ])
    func `is of a range that there is`(_ query: String, _ code: String?) async throws {
        try await Self.with { server in
            let answer = try await server.get("/v1/export" + query, as: .audit)
            #expect((answer.status == 200) == (code == nil) && answer.code == code)
        }
    }

    @Test func `is received as the files that its manifest names`() async throws {
        try await Self.with { server in
            for path in ["/v1/export?redact=none", "/v1/customers/alice-1/export"] {
                let text = try await server.get(path, as: .admin).body
                for step in [1, 7, 1 << 20] {
                    try Self.withFolder { folder in
                        let receiver = try ExportReceiver(into: folder)
                        let bytes = Array(text.utf8)
                        for start in stride(from: 0, to: bytes.count, by: step) {
                            try receiver.take(Array(bytes[start..<min(bytes.count, start + step)]))
                        }
                        let answer = try receiver.finish()
                        let check = try ExportCheckAnswer(ExportFiles(path: folder), key: nil)
                        #expect(check.isOK && check.records == answer.records, "\(check.faults)")
                        let files = try StreamedExport(text).files
                        let names = try ExportFiles(path: folder).names()
                        // One without lines stands there, and has none in the stream.
                        #expect(Set(names).isSuperset(of: files.keys))
                        for (name, content) in files {
                            let file = try Data(contentsOf: URL(filePath: folder + "/" + name))
                            #expect(Array(file) == content, "\(name)")
                        }
                    }
                }
            }
        }
    }

    // What others send is written nowhere else, and no part passes for the whole.
    @Test func `is not received where it is cut, changed or of other files`() async throws {
        try await Self.with { server in
            let text = try await server.get("/v1/export?redact=none", as: .admin).body
            let lines = text.split(separator: "\n").map { $0 + "\n" }
            let stray = #"{"file":"../stray.ndjson","line":{}}"# + "\n"
            let plan = #"{"file":"plan.json","line":{}}"# + "\n"
            let changed: String = text.replacing("grant.given", with: "grant.taken")
            let twice: String = lines[0] + text.replacing(lines[0], with: "") + lines[0]
            let unsigned: String = lines.dropLast().joined()
            let lacking: String = lines.dropFirst().joined()
            let sendings: [(what: String, sent: String)] = [
                ("nothing", ""), ("its signature is missing", unsigned),
                ("its end is missing", String(text.dropLast(9))),
                ("a line is missing", lacking),
                ("a word is another", changed),
                ("a line stands behind the manifest", text + lines[0]),
                ("a file comes twice", twice),
                ("another folder's file", stray + text), ("a file of ours", plan + text),
                ("no line of an export", "[]\n" + text), ("a page", "<!doctype html>\n"),
            ]
            for (what, sent) in sendings {
                try Self.withFolder { outer in
                    // Ours, beside the folder.
                    let (folder, own) = (outer + "/in", outer + "/stray.ndjson")
                    try FileManager.default.createDirectory(
                        atPath: outer,
                        withIntermediateDirectories: true
                    )
                    try Data("own".utf8).write(to: URL(filePath: own))
                    let receiver = try ExportReceiver(into: folder)
                    #expect(throws: OperationFault.self, "\(what)") {
                        try receiver.take(Array(sent.utf8))
                        _ = try receiver.finish()
                    }
                    receiver.discard()
                    #expect(try ExportFiles(path: folder).names() == [], "\(what)")
                    let left = FileManager.default.contents(atPath: own)
                    #expect(left == Data("own".utf8), "\(what)")
                }
            }
        }
    }
}
