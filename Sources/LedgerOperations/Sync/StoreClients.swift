package import Entitlements
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
    /// Whether one may be asked what it sells.
    package var tellProducts: Bool {
        appStoreConnect != nil || playStore != nil || revenueCat != nil
    }

    /// When all of them may be asked again; nil: now.
    package var heldUntil: Instant? {
        [
            appStore?.api.heldUntil, playStore?.api.heldUntil, revenueCat?.heldUntil,
            appStoreConnect?.heldUntil,
        ].compactMap(\.self).max()
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
