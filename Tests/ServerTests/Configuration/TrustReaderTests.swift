import Crypto
import Entitlements
import Foundation
import LedgerOperations
import Testing

@testable import LedgerServer

/// What a server reads again of whom it trusts, each hour and at SIGHUP.
struct `Trust that is read again` {
    private static let account = #""pushServiceAccount":"push@example.iam.gserviceaccount.com""#

    private static func stores(_ audience: String) -> String {
        """
        {"appStore":{"bundleIds":["com.example.app"],"environments":["sandbox"],
          "issuerId":"57246542-96fe-1a63-e053-0824d011072a","keyId":"KEY1",
          "privateKeyFile":"key.p8"},
         "playStore":{"packageNames":["com.example.app"],"pushAudience":"\(audience)",\(account)}}
        """
    }

    private static func with(
        _ body: (_ folder: String, TrustReader, LogLines) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "trust-" + UUID().uuidString).path
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        // A folder for temporary files is emptied by itself.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let key = P256.Signing.PrivateKey().pemRepresentation
        try key.write(toFile: folder + "/key.p8", atomically: true, encoding: .utf8)
        let customers = P256.Signing.PrivateKey().publicKey.pemRepresentation
        try customers.write(toFile: folder + "/customers.pem", atomically: true, encoding: .utf8)
        try stores("https://one.example.com")
            .write(toFile: folder + "/stores.json", atomically: true, encoding: .utf8)
        let settings = try Settings(file: nil) { setting in
            setting == .customerKeysFile ? folder + "/customers.pem" : nil
        }
        let log = LogLines()
        try await body(folder, TrustReader(settings, ofLedgerAt: folder, log.logger()), log)
    }

    // Else a store's Retry-After would be forgotten each hour, and Google's keys dropped.
    @Test func `keeps what was learned where nothing was changed`() async throws {
        try await Self.with { _, reader, log in
            let first = try await reader.read()
            let second = try await reader.read()
            let api = try #require(first.stores.clients.appStore?.api)
            #expect(second.stores.clients.appStore?.api === api)
            let keys = try #require(first.stores.playPush?.keys)
            #expect(second.stores.playPush?.keys === keys)
            let told = log.all.filter { $0.contains("not held against") }
            #expect(told.count == 2, "issuer and audience, once each")
        }
    }

    @Test func `takes what was changed, and keeps Google's keys`() async throws {
        try await Self.with { folder, reader, log in
            let first = try await reader.read()
            let api = try #require(first.stores.clients.appStore?.api)
            let keys = try #require(first.stores.playPush?.keys)
            try Self.stores("https://two.example.com")
                .write(toFile: folder + "/stores.json", atomically: true, encoding: .utf8)
            let second = try await reader.read()
            #expect(second.stores.clients.appStore?.api !== api)
            #expect(second.stores.playPush?.keys === keys)
            // What stands in a file that is named counts, too.
            let api2 = second.stores.clients.appStore?.api
            let key = P256.Signing.PrivateKey().pemRepresentation
            try key.write(toFile: folder + "/key.p8", atomically: true, encoding: .utf8)
            #expect(try await reader.read().stores.clients.appStore?.api !== api2)
            try Data("{".utf8).write(to: URL(filePath: folder + "/stores.json"))
            await #expect(throws: OperationFault.self) { _ = try await reader.read() }
        }
    }
}
