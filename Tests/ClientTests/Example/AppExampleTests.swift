import Entitlements
import Foundation
import LedgerAPI
import Testing

@testable import EntitlementClient
@testable import entitle_example

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
        let shop = Shop(configuration)
        await shop.launch()
        #expect(shop.use("export") == "Sold as pro.month.")
        #expect(await shop.buy("pro.month") { false } == "")
        #expect(await shop.buy("no such product") { true }.contains("not on sale"))
        #expect(await shop.buy("pro.month") { true } == "Thank you.")
        #expect(shop.use("export") == "Open, as the server says.")
        await shop.service.stop()
        // The app begins anew, and nobody is reached.
        setup.server.isAway = true
        let again = Shop(configuration)
        await again.launch()
        #expect(again.use("export") == "Open, as the snapshot says.")
        await again.service.stop()
    }
}
