import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations
import Testing

@testable import LedgerServer

/// What a server says over HTTP of what is wrong, with itself and what it stands on.
struct `A diagnosis over HTTP` {
    private static func codes(_ server: TestServer) async throws -> [String?] {
        let answer = try await server.get("/v1/doctor", as: .admin)
        #expect(answer.status == 200, "\(answer.body)")
        #expect(!answer.body.contains("alice-1"))
        return (answer.json["findings"]?.array ?? []).map { $0["code"]?.string }
    }

    private static func with(
        _ settings: [Setting: String] = [:],
        _ setup: TestServer.Setup = TestServer.Setup(),
        _ body: @escaping @Sendable (TestServer, _ folder: String) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "diagnosis-" + UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Ledger.open(at: folder, options: OpenLedger.Options(createsIfMissing: true)).close()
        let set = try Settings(file: nil) { settings[$0] }
        var setup = setup
        setup.adjust = { options in
            options.directory = folder
            options.settings = set
            options.keyOptions = MasterKeyOptions(ofLedgerAt: folder, set)
        }
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            _ = try await server.post("/v1/customers/alice-1/grants", #"{"tier":"pro"}"#)
            try await body(server, folder)
        }
    }

    @Test func `looks at the directory, the key, what is set and the stores`() async throws {
        try await Self.with([.host: "0.0.0.0"]) { server, folder in
            let codes = try await Self.codes(server)
            for code in ["key_beside_data", "stores_missing", "listens_in_clear"] {
                #expect(codes.contains(code), "\(code)")
            }
            #expect(!codes.contains("directory_open"), "the control")
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder)
            let open = try await Self.codes(server)
            #expect(open.contains("directory_open"))
            try Data("{".utf8).write(to: URL(filePath: folder + "/stores.json"))
            let refused = try await Self.codes(server)
            #expect(refused.contains("configuration_refused"))
        }
    }

    // Row 9.4: as the call does, the pages name files of the server's machine to `admin` alone.
    @Test func `shows no file on a page to whom the call is refused`() async throws {
        try await Self.with { server, folder in
            for path in ["/console/health.json", "/console.json", "/console/health"] {
                for scope in [Scope.read, .support, .audit] {
                    let page = try await server.get(path, as: scope)
                    #expect(page.status == 200 && !page.body.contains(folder), "\(page.body)")
                }
            }
            let page = try await server.get("/console/health.json", as: .admin)
            #expect(page.body.contains(folder), "the control: \(page.body)")
        }
    }

    // An audit that runs already is not waited for.
    @Test(arguments: [(false, true), (true, false)])
    func `audits quickly where no audit runs`(_ isBusy: Bool, _ isTold: Bool) async throws {
        var setup = TestServer.Setup()
        setup.audit = { scope, _, _ in
            guard !isBusy, scope == .quick else { throw Problem(.busy) }
            var answer = AuditAnswer()
            answer.faults.append(AuditFault(.tree, nil, "planted"))
            return answer
        }
        try await Self.with([:], setup) { server, _ in
            let codes = try await Self.codes(server)
            #expect(codes.contains("audit_faults") == isTold)
        }
    }

    @Test func `is of what the server knows, where the ledger stands in no directory`()
        async throws
    {
        try await TestServer.with { server in
            let none = try await Self.codes(server)
            #expect(none == [])
            server.service.jobs.end(.drift, isDone: false)
            let failed = try await Self.codes(server)
            #expect(failed == ["job_failed"])
        }
    }
}
