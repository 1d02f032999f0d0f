import EntitlementLedger
import Entitlements
import Foundation
import LedgerOperations
import Presentation
import Testing

@testable import LedgerServer

/// Keys that the console makes.
struct `Keys of the console` {
    private static let path = "/console/settings/keys"

    private static func fields(days: String) -> [(String, String)] {
        [(SettingsPage.field(ofScope: Scope.read.rawValue), "on"), ("days", days)]
    }

    /// A server whose keys stand in its ledger's directory, with one to begin with.
    private static func with(
        _ key: APIKey,
        _ body: @escaping @Sendable (TestServer, KeyFolder) async throws -> Void
    ) async throws {
        let folder = KeyFolder(
            path: FileManager.default.temporaryDirectory
                .appending(path: "settings-" + UUID().uuidString).path
        )
        // A folder for temporary files is emptied by itself.
        defer { try? FileManager.default.removeItem(atPath: folder.path) }
        try Ledger.open(at: folder.path, options: OpenLedger.Options(createsIfMissing: true))
            .close()
        try folder.write([key])
        let ring = try folder.ring()
        var setup = TestServer.Setup()
        setup.adjust = { options in
            options.directory = folder.path
            options.keys = ring
        }
        try await TestServer.with(setup) { server in try await body(server, folder) }
    }

    private static let end = noon.plus(seconds: 10 * 86_400)

    @Test func `have no end where none is written, and are not made where it cannot be read`()
        async throws
    {
        try await Self.with(APIKey.sample(1).key) { server, folder in
            let visitor = PageVisitor(server, as: .console)
            let before = try KeyFile.read(at: folder.path)
            for days in ["30d", "0", "-1", "3651", "10 ", "1e1"] {
                let refused = try await visitor.post(Self.path, Self.fields(days: days))
                #expect(refused.status == 400, "\(days)")
            }
            #expect(try KeyFile.read(at: folder.path) == before)
            // The controls.
            for days in ["", "10"] {
                let made = try await visitor.post(Self.path, Self.fields(days: days))
                #expect(made.status == 200, "\(days): \(made.body)")
            }
            let ends = try KeyFile.read(at: folder.path).keys.dropFirst().map(\.expiresAt)
            #expect(ends == [nil, Self.end])
        }
    }

    // A key that could make one without an end would outlive its own.
    @Test func `end no later than the key that makes them`() async throws {
        let maker = APIKey.sample(1, scopes: [.admin], expiresAt: Self.end).key
        try await Self.with(maker) { server, folder in
            let visitor = PageVisitor(server, as: .key(id: maker.id, scopes: maker.scopes))
            for (days, status) in [("", 400), ("11", 400), ("10", 200)] {
                let answer = try await visitor.post(Self.path, Self.fields(days: days))
                #expect(answer.status == status, "\(days): \(answer.body)")
            }
            // The control: whoever came by the owner's link makes any.
            let owner = PageVisitor(server, as: .console)
            #expect(try await owner.post(Self.path, Self.fields(days: "")).status == 200)
            let ends = try KeyFile.read(at: folder.path).keys.map(\.expiresAt)
            #expect(ends == [Self.end, Self.end, nil])
        }
    }
}
