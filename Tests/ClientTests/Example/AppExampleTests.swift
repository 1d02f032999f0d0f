import Entitlements
import Foundation
import LedgerAPI
import Testing

@testable import EntitlementClient

/// What the page shows.
struct `The example of an app` {
    // rows B3, 4.4
    @Test func `sells a feature and opens it`() async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(component: "client-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let setup = ServiceSetup()
        var configuration = ServiceConfiguration(
            serverURL: "https://ledger.test",
            folder: folder.path,
            customer: SnapshotAuthority.customer,
            time: setup.time.time,
            transport: setup.server.transport,
            token: { "token" }
        )
        configuration.purchases = setup.shop
        let app = App(configuration)
        await app.launch()
        #expect(app.export() == "Sold as pro.month.")
        #expect(await app.buy("pro.month") { false } == "")
        #expect(await app.buy("no such product") { true }.contains("not on sale"))
        #expect(await app.buy("pro.month") { true } == "Thank you.")
        #expect(app.export() == "Exported.")
        await app.service.stop()
        // The app begins anew, and nobody is reached.
        setup.server.isAway = true
        let again = App(configuration)
        await again.launch()
        #expect(again.export() == "Exported.")
        await again.service.stop()
    }
}
