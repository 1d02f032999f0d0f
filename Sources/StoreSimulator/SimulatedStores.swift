package import Entitlements
package import Stores
import Synchronization

/// The stores together: their APIs, each below a path of its own, over what accounts have bought.
package final class SimulatedStores: Sendable {
    /// The keys that they work with.
    package let keys: SimulatedKeys
    /// The App Store, for everybody.
    package let appStore: SimulatedAppStore
    package let appStoreAPI: SimulatedAppStoreAPI
    package let playAPI: SimulatedPlayAPI
    package let revenueCatAPI: SimulatedRevenueCatAPI
    private let devices: SimulatedDeviceAPI
    private let bought: Purchases
    private let keySet: String
    private let isOutFlag = Atomic<Bool>(false)

    /// What lies before the paths of each store's API.
    package static let appStorePath = "/app-store"
    package static let playPath = "/play"
    package static let revenueCatPath = "/revenuecat"
    /// What lies before the paths of a device's own App Store.
    package static let devicePath = "/device"
    /// Where the keys of Google's tokens are (RFC 7517).
    package static let keySetPath = "/play/keys"

    /// What the App Store's accounts have bought, by whoever said it.
    private final class Purchases: Sendable {
        private let state = Mutex(
            (told: [SimulatedAppleAccount](), byDevices: [SimulatedAppleAccount]())
        )
        private let api: SimulatedAppStoreAPI

        init(_ api: SimulatedAppStoreAPI) { self.api = api }

        func set(
            told: [SimulatedAppleAccount]? = nil,
            byDevices: [SimulatedAppleAccount]? = nil
        ) {
            state.withLock { state in
                state = (told ?? state.told, byDevices ?? state.byDevices)
                api.set(state.told + state.byDevices)
            }
        }
    }

    /// Makes them of keys.
    ///
    /// `products`: what devices may buy; `clock`: by which credentials are good and devices buy;
    /// `signedAt`: the virtual time.
    /// - Throws: what is wrong with a key.
    package init(
        _ keys: SimulatedKeys,
        products: [SimulatedProduct] = [],
        clock: @escaping @Sendable () -> Instant,
        signedAt: @escaping @Sendable () -> Instant
    ) throws {
        self.keys = keys
        appStore = SimulatedAppStore(authority: keys.authority)
        appStoreAPI = try SimulatedAppStoreAPI(
            appStore,
            keyPEM: keys.appStoreKeyPEM,
            clock: clock,
            signedAt: signedAt
        )
        playAPI = try SimulatedPlayAPI(
            packageName: keys.playStore.packageName,
            keyPEM: keys.playAccountKeyPEM
        )
        revenueCatAPI = SimulatedRevenueCatAPI(
            key: keys.revenueCatKey,
            projectID: SimulatedKeys.revenueCatProject
        )
        keySet = try keys.playStore.keySet()
        let bought = Purchases(appStoreAPI)
        self.bought = bought
        devices = SimulatedDeviceAPI(appStore, products: products, clock: clock) {
            bought.set(byDevices: $0)
        }
    }

    /// What the accounts have bought from now on.
    package func set(_ accounts: SimulatedAccounts) {
        bought.set(told: accounts.appStore.sorted { $0.key < $1.key }.map(\.value))
        playAPI.set(accounts.playStore.sorted { $0.key < $1.key }.map(\.value))
        revenueCatAPI.set(accounts.revenueCat.sorted { $0.key < $1.key }.map(\.value))
    }

    /// Whether they answer 503 to whatever they are asked.
    package var isOut: Bool {
        get { isOutFlag.load(ordering: .sequentiallyConsistent) }
        set { isOutFlag.store(newValue, ordering: .sequentiallyConsistent) }
    }

    /// Carries questions to whichever of them has the path.
    package var transport: StoreTransport {
        { [self] in await response(to: $0) }
    }

    private func response(to request: StoreRequest) async -> StoreResponse? {
        if isOut { return StoreResponse(status: 503) }
        let path = Self.path(of: request.url)
        if path == Self.keySetPath {
            return StoreResponse(status: 200, body: Array(keySet.utf8))
        }
        if path.hasPrefix(Self.appStorePath + "/") {
            return await appStoreAPI.transport(request)
        }
        if path.hasPrefix(Self.devicePath + "/") { return await devices.transport(request) }
        if path.hasPrefix(Self.playPath + "/") { return await playAPI.transport(request) }
        if path.hasPrefix(Self.revenueCatPath + "/") {
            return await revenueCatAPI.transport(request)
        }
        return StoreResponse(status: 404)
    }

    /// What stands behind the address, of either form of a request's target (RFC 9112, section 3.2).
    private static func path(of url: String) -> Substring {
        guard let scheme = url.firstRange(of: "://") else { return url[...] }
        return url[scheme.upperBound...].drop { $0 != "/" }
    }
}

/// What accounts have bought at each store, by their numbers.
package struct SimulatedAccounts: Sendable {
    package var appStore: [Int: SimulatedAppleAccount] = [:]
    package var playStore: [Int: SimulatedPlayAccount] = [:]
    package var revenueCat: [Int: SimulatedRevenueCatAccount] = [:]

    /// Nobody.
    package init() {}
}
