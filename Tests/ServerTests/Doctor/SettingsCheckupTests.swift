import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import LedgerOperations
import StoreSimulator
import Stores
import Testing

@testable import LedgerServer

/// What a look finds of what is set, and of a server that runs.
struct `A look at a server's settings` {
    private static func codes(
        _ settings: [Setting: String],
        openFiles: Int = 100_000,
        _ more: (inout Checkup, _ folder: String) async throws -> Void = { _, _ in }
    ) async throws -> [Finding.Code] {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "checkup-" + UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let ledger = try Ledger.open(
            at: folder,
            options: OpenLedger.Options(createsIfMissing: true)
        )
        defer { try? ledger.close() }
        var machine = Machine()
        machine.limits = ProcessLimits(text: "Max open files  \(openFiles)  \(openFiles)  files\n")
        var checkup = Checkup(
            ofLedgerAt: folder,
            try Settings(file: nil) { settings[$0] },
            machine,
            at: noon
        )
        try await more(&checkup, folder)
        await checkup.lookAtServer(ledger)
        return checkup.answer.findings.map(\.code)
    }

    @Test(
        arguments: [
            ([:], []), ([.host: "127.0.0.1"], []), ([.host: "0.0.0.0"], [.listensInClear]),
            ([.host: "unix:/run/entitle.sock"], []),
            ([.host: "0.0.0.0", .trustedProxies: "10.0.0.0/8"], []),
            ([.privateWebhooks: "true"], [.privateWebhooks]),
            ([.port: "many"], [.configurationRefused]),
            ([.tlsKeyFile: "/nowhere"], [.configurationRefused]),
        ] as [([Setting: String], [Finding.Code])]
    )
    func `finds what is set badly`(
        _ settings: [Setting: String],
        _ codes: [Finding.Code]
    ) async throws {
        #expect(try await Self.codes(settings) == codes)
    }

    @Test func `finds too few files`() async throws {
        #expect(try await Self.codes([:], openFiles: 1024) == [.openFilesLow])
        #expect(try await Self.codes([.connections: "500"], openFiles: 1024) == [])
    }

    @Test func `finds keys that count for ever`() async throws {
        func codes(_ end: Instant?) async throws -> [Finding.Code] {
            try await Self.codes([:]) { _, folder in
                let key = APIKey.sample(1, expiresAt: end).key
                try KeyFolder(path: folder).write([key])
            }
        }
        #expect(try await codes(noon.plus(seconds: 86_400)) == [])
        #expect(try await codes(nil) == [.keysWithoutEnd])
    }

    @Test func `finds tokens that are held against nobody`() async throws {
        let issuer = try await TokenIssuer.es256()
        let file = FileManager.default.temporaryDirectory
            .appending(path: "issuer-" + UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try Data(issuer.pem.utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        var settings: [Setting: String] = [.customerKeysFile: file, .customerIssuer: "a"]
        #expect(try await Self.codes(settings) == [.tokensUnbound])
        settings[.customerAudience] = "b"
        #expect(try await Self.codes(settings) == [])
    }

    /// A certificate in PEM that ends so many days after now, and what is found of it.
    @Test(arguments: [
        (Int64(-1), Finding.Code.certificateExpired), (10, .certificateEnding), (100, nil),
    ])
    func `finds a certificate near its end`(_ days: Int64, _ code: Finding.Code?) async throws {
        let end = noon.plus(seconds: days * 86_400)
        let authority = try SigningAuthority(validity: end.plus(seconds: -400 * 86_400)..<end)
        let pem = """
            -----BEGIN CERTIFICATE-----
            \(Data(authority.certificates[0]).base64EncodedString(options: .lineLength64Characters))
            -----END CERTIFICATE-----

            """
        let file = FileManager.default.temporaryDirectory
            .appending(path: "certificate-" + UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try Data(pem.utf8).write(to: URL(filePath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        // Its key is none: a server does not start, and others may read it.
        let codes = try await Self.codes([.tlsCertificateFile: file, .tlsKeyFile: file])
        let expected = [code, .configurationRefused, .tlsKeyOpen].compactMap(\.self)
        #expect(Set(codes) == Set(expected))
        #expect(codes.count == expected.count)
    }

    @Test func `finds a root near its end`() async throws {
        func codes(_ days: Int64) throws -> [Finding.Code] {
            let end = noon.plus(seconds: days * 86_400)
            let authority = try SigningAuthority(validity: end.plus(seconds: -9 * 86_400)..<end)
            var stores = StoresConfiguration()
            stores.appStore = AppStoreConfiguration(bundleIDs: ["a"], roots: [authority.root])
            var checkup = Checkup(ofLedgerAt: "/ledger", Settings(), Machine(), at: noon)
            checkup.lookAtRoots(stores)
            return checkup.answer.findings.map(\.code)
        }
        #expect(try codes(100) == [.rootEnding])
        #expect(try codes(1000) == [])
    }

    @Test func `finds purchases of which a store has not told`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            func findings() throws -> [Finding] {
                var checkup = Checkup(ofLedgerAt: "/ledger", Settings(), Machine(), at: noon)
                checkup.lookAtPurchases(
                    try server.ledger.questions.purchaseDoubts(in: .production, at: noon, limit: 0)
                )
                return checkup.answer.findings
            }
            func codes() throws -> [Finding.Code] { try findings().map(\.code) }
            #expect(try codes() == [])
            let end = noon.plus(seconds: -86_400)
            let start = noon.plus(seconds: -2 * 86_400)
            func line(
                _ store: String,
                _ number: Int,
                _ type: String,
                _ data: String
            ) throws -> Submission {
                let text = """
                    {"specversion":"1.0","id":"\(type)-\(store)\(number)","source":"\(store)",\
                    "type":"\(type)","subject":"purchase/\(store)/\(number)","time":"\(start)",\
                    "data":{\(data)}}
                    """
                return Submission(
                    event: try Event(validating: JSONValue(parsing: Array(text.utf8)))
                )
            }
            func purchase(_ number: Int, _ store: String, _ method: String) throws -> [Submission] {
                [
                    try line(
                        store,
                        number,
                        "purchase.completed",
                        """
                        "transactionId":"t\(number)","productId":"pro.month","account":"u\(number)",\
                        "productKind":"auto_renewable","expiresAt":"\(end)"
                        """
                    ),
                    try line(store, number, "verification.passed", #""method":"\#(method)""#),
                ]
            }
            _ = try server.ledger.appender.record(
                try (0..<6).flatMap { try purchase($0, "app_store", "app_store_jws") }
            )
            #expect(try codes() == [.renewalsMissing])
            _ = try server.ledger.appender.record(try purchase(7, "play_store", "play_signature"))
            #expect(try codes() == [.unacknowledged, .renewalsMissing])
            // A backfill asks nobody about these.
            _ = try server.ledger.appender.record(
                try (0..<6).flatMap { try purchase($0, "stripe", "store_api") }
            )
            let missing = try findings().filter { $0.code == .renewalsMissing }
            func remedy(_ store: String) -> String? { missing.first { $0.place == store }?.remedy }
            #expect(remedy("app_store")?.contains("`entitle sync --backfill`") == true)
            #expect(remedy("stripe")?.hasPrefix("`entitle sync CUSTOMER`") == true)
        }
    }
}
