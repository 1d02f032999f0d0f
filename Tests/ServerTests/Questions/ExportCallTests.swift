import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI
import Testing

@testable import LedgerServer

/// Row 8.6 over HTTP.
struct `An export over HTTP` {
    private static let path = "/v1/customers/alice-1/export"

    private static func with(
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    )
        async throws
    {
        try await TestServer.with { server in
            try server.publishCatalog()
            for index in 0..<3 {
                let grant = try await server.post(
                    "/v1/customers/alice-1/grants",
                    #"{"tier":"pro","grantId":"grant-\#(index)","reason":"because of me"}"#
                )
                #expect(grant.status == 200, "\(grant.body)")
            }
            try await body(server)
        }
    }

    private static func get(
        _ server: TestServer,
        _ query: String = "",
        accept: String? = nil
    ) async throws -> TestAnswer {
        var headers = HTTPFields()
        if let accept { headers[.accept] = accept }
        return try await server.send(
            .get,
            path + query,
            credential: server.keys[.support],
            headers: headers
        )
    }

    // row 8.6, row Z4
    @Test func `streams files that are found whole by the ledger's key`() async throws {
        try await Self.with { server in
            for redaction in ExportRedaction.allCases {
                let answer = try await Self.get(server, "?redact=" + redaction.rawValue)
                #expect(answer.status == 200, "\(answer.body)")
                #expect(answer.headers[.contentType] == "application/x-ndjson")
                #expect(answer.headers[.cacheControl] == "no-store")
                let bundle = try StreamedExport(answer.body)
                let check = try ExportCheckAnswer(bundle, key: nil)
                #expect(check.isOK, "\(check.faults)")
                // An export that was made before is noted as an access.
                #expect(check.records >= 3)
                #expect(answer.body.contains("alice-1") == (redaction < .names))
                #expect(answer.body.contains("because of me") == (redaction < .names))
                let explained = bundle.files["explanations.ndjson"] ?? []
                #expect(String(decoding: explained, as: UTF8.self).contains("summary"))
            }
        }
    }

    // row 8.6: at a machine of a cluster that another one leads
    @Test func `goes out where another machine keeps checkpoints`() async throws {
        try await Self.with { server in
            server.storage.fault = LogStorageFault(.unreadable, "a fault that a test made")
            #expect(try await Self.get(server).status == 500, "the control")
            server.storage.fault = LogStorageFault(.noLeader, "another machine leads")
            let answer = try await Self.get(server)
            server.storage.fault = nil
            #expect(answer.status == 200, "\(answer.body)")
            #expect(try ExportCheckAnswer(StreamedExport(answer.body), key: nil).isOK)
        }
    }

    // The control: what is changed on the way is found.
    @Test func `is not found whole with another word`() async throws {
        try await Self.with { server in
            let text = try await Self.get(server).body
            let changed = text.replacing("grant.given", with: "grant.taken")
            #expect(changed != text)
            #expect(try !ExportCheckAnswer(StreamedExport(changed), key: nil).isOK)
            let cut = text.split(separator: "\n").dropLast().joined(separator: "\n")
            #expect(try !ExportCheckAnswer(StreamedExport(cut), key: nil).isOK)
        }
    }

    @Test func `is a table or a page for whom prefers that`() async throws {
        try await Self.with { server in
            let table = try await Self.get(server, accept: "text/csv")
            #expect(table.headers[.contentType] == "text/csv")
            #expect(table.body.split(separator: "\r\n").count == 4)
            let page = try await Self.get(server, accept: "application/json;q=0.1, text/html")
            #expect(page.headers[.contentType] == "text/html")
            #expect(page.body.hasPrefix("<!doctype html>") && page.body.hasSuffix("</html>\n"))
            let head = try await server.send(
                .head,
                Self.path,
                credential: server.keys[.support]
            )
            #expect(head.status == 200 && head.body.isEmpty)
        }
    }

    @Test func `of one who is unknown is no export, and makes nobody known`() async throws {
        try await Self.with { server in
            let size = try server.ledger.questions.size()
            let answer = try await server.get("/v1/customers/nobody-at-all/export", as: .support)
            #expect(answer.status == 404 && answer.code == "unknown_customer")
            let wrong = try await Self.get(server, "?redact=some")
            #expect(wrong.status == 400 && wrong.code == "invalid_value")
            // A checkpoint is no event.
            #expect(try server.ledger.questions.size() == size)
        }
    }
}

/// A streamed export, taken apart.
struct StreamedExport: ExportSource {
    private(set) var files: [String: [UInt8]] = [:]

    init(_ text: String) throws {
        for line in text.split(separator: "\n") {
            let json = try JSONValue(parsing: Array(line.utf8))
            let name = json["file"]?.string ?? ""
            let content = json["line"]?.string ?? (json["line"]?.description ?? "") + "\n"
            files[name, default: []] += Array(content.utf8)
        }
    }

    func read(_ name: String, _ body: ([UInt8]) throws -> Void) throws -> Bool {
        try body(files[name] ?? [])
        return true
    }

    func lines(_ name: String) -> (any ExportLines)? { files[name].map { Lines($0) } }

    func names() -> [String] { files.keys.sorted() }

    private final class Lines: ExportLines {
        private var rest: [ArraySlice<UInt8>]

        init(_ bytes: [UInt8]) { rest = bytes.split(separator: 0x0A).reversed() }

        func next() -> [UInt8]? { rest.popLast().map { Array($0) } }
    }
}
