import Entitlements
import LedgerOperations
import StoreSimulator
import Stores
import Testing

@testable import LedgerServer

/// An App Store of the tests' own that may be asked.
enum SyncWorld {
    /// A server that may ask an App Store of the tests' own.
    static func setup(_ api: SimulatedAppStoreAPI) throws -> TestServer.Setup {
        // The start of a test's clock.
        let now = noon
        var setup = try AppStoreWorld.setup()
        setup.stores.clients.appStore = StoreClients.AppStore(
            api: AppStoreServerAPI(
                try api.access(),
                bundleIDs: [try AppStoreWorld.store().bundleID],
                caller: StoreCaller(
                    api.transport,
                    clock: { now },
                    sleep: { _ in },
                    random: { 0 }
                ),
                clock: { now }
            ),
            verifier: try #require(setup.stores.appStore)
        )
        return setup
    }

    /// An Apple Account that bought the sample's month.
    static func subscriber(
        _ number: Int = 1,
        of store: SimulatedAppStore
    ) -> SimulatedAppleAccount {
        var account = SimulatedAppleAccount(number, token: AppStoreWorld.account, of: store)
        let month = SimulatedAppleAccount.Product(
            id: "com.example.app.pro.month",
            type: "Auto-Renewable Subscription",
            period: 30 * 86_400_000,
            price: 9_990
        )
        account.buy(month, at: AppStoreWorld.start)
        return account
    }
}
