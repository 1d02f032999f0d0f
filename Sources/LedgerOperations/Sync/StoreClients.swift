package import Entitlements
package import LedgerAPI
package import Stores

/// The stores that may be asked, and what their answers are checked by.
package struct StoreClients: Sendable {
    /// Nil: the App Store cannot be asked.
    package var appStore: AppStore?
    /// Nil: Google Play cannot be asked.
    package var playStore: PlayStore?

    /// Asks RevenueCat, by customers; nil: it cannot be asked.
    package var revenueCat: RevenueCatAPI?
    /// Tells what the App Store sells; nil: it cannot be asked.
    package var appStoreConnect: AppStoreConnectAPI?

    /// The App Store's API.
    package struct AppStore: Sendable {
        package let api: AppStoreServerAPI
        let verifier: AppStoreVerifier

        /// Names both.
        package init(api: AppStoreServerAPI, verifier: AppStoreVerifier) {
            self.api = api
            self.verifier = verifier
        }
    }

    /// Google Play's API.
    package struct PlayStore: Sendable {
        package let api: PlayDeveloperAPI
        let configuration: PlayConfiguration

        /// Names both.
        package init(api: PlayDeveloperAPI, configuration: PlayConfiguration) {
            self.api = api
            self.configuration = configuration
        }
    }

    /// Whether no store may be asked.
    package var isEmpty: Bool { appStore == nil && playStore == nil && revenueCat == nil }

    /// When one may be asked about purchases of an environment again, by its name in the log; nil: now, as
    /// far as is known.
    package func heldUntil(_ store: String, in environment: StoreEnvironment) -> Instant? {
        switch store {
        case Source.appStore: appStore?.api.heldUntil(in: environment)
        case Source.playStore: playStore?.api.heldUntil
        case Source.revenueCat: revenueCat?.heldUntil
        default: nil
        }
    }

    /// When one may be asked again what it sells; nil: now, as far as is known.
    package func heldUntil(tellingProducts source: ProductSource) -> Instant? {
        switch source {
        case .appStore: appStoreConnect?.heldUntil
        case .playStore: playStore?.api.heldUntil
        case .revenueCat: revenueCat?.heldUntil
        }
    }

    /// Those that may be asked what they sell.
    package var tellingProducts: [ProductSource] {
        ProductSource.allCases.filter { source in
            switch source {
            case .appStore: appStoreConnect != nil
            case .playStore: playStore != nil
            case .revenueCat: revenueCat != nil
            }
        }
    }

    /// Names them.
    package init(
        appStore: AppStore? = nil,
        playStore: PlayStore? = nil,
        revenueCat: RevenueCatAPI? = nil
    ) {
        self.appStore = appStore
        self.playStore = playStore
        self.revenueCat = revenueCat
    }
}
