import Encodings
package import EntitlementLedger
import Entitlements
package import LedgerAPI
package import Stores

/// Whether the stores are heard, known and can be asked.
extension Checkup {
    /// Days in which something of a store comes, if so many events did.
    private static let silentDays: Int64 = 7
    private static let silentEvents = 100

    /// Looks at what is configured of the stores; nil: nothing is.
    package mutating func lookAtStores(_ stores: StoresConfiguration?) {
        let file = settings[.stores] ?? path + "/stores.json"
        guard let stores else {
            add(
                .storesMissing,
                "no store is configured: none is listened to",
                at: file,
                do: "nothing, if events are imported; else write it as the page Stores says"
            )
            return
        }
        if let appStore = stores.appStore {
            lookAtAppStore(stores, appStore, file)
        }
        if let playStore = stores.playStore {
            if playStore.push == nil {
                add(
                    .storeUnauthenticated,
                    "pushes of Google Play are taken by a key with `ingest` alone",
                    at: file + ": playStore.pushAudience",
                    do: "set pushAudience and pushServiceAccount of the Pub/Sub subscription"
                )
            }
            if playStore.access == nil {
                add(
                    .storeUnasked,
                    "Google Play cannot be asked: what a push hints at stays unknown, and no "
                        + "purchase is acknowledged",
                    at: file + ": playStore.serviceAccountFile",
                    do: "name the key of a service account with access to the Play Console"
                )
            }
        }
        if let revenueCat = stores.revenueCat,
            revenueCat.authorization == nil, revenueCat.hmacSecret == nil
        {
            add(
                .storeUnauthenticated,
                "RevenueCat's webhooks are taken by a key with `ingest` alone: no secret is set",
                at: file + ": revenueCat.authorizationFile",
                do: "name the file of the authorization that RevenueCat's dashboard sends, or "
                    + "hmacSecretFile"
            )
        }
    }

    private mutating func lookAtAppStore(
        _ stores: StoresConfiguration,
        _ appStore: AppStoreConfiguration,
        _ file: String
    ) {
        if stores.appStoreAccess == nil {
            add(
                .storeUnasked,
                "the App Store cannot be asked for what did not arrive",
                at: file + ": appStore.privateKeyFile",
                do: "set issuerId, keyId and privateKeyFile of an in-app purchase key"
            )
        }
        let own = Set(AppStoreConfiguration.builtInRoots)
        if appStore.environments.contains(.production), !own.isSuperset(of: appStore.roots) {
            add(
                .rootsForeign,
                "roots that are not Apple's are trusted in production",
                at: file + ": appStore.roots",
                do: "take them away, or leave production out of environments: they are a "
                    + "simulator's"
            )
        }
    }

    /// Looks at what came of the stores, those that are configured before all.
    package mutating func lookAtSignals(
        _ completeness: [Keyed<StatusAnswer.Completeness>],
        _ stores: StoresConfiguration?
    ) {
        let configured = [
            (Source.appStore, stores?.appStore != nil),
            (Source.playStore, stores?.playStore != nil),
            (Source.revenueCat, stores?.revenueCat != nil),
        ].filter(\.1).map(\.0)
        for source in completeness {
            let known = source.value
            if configured.holds(source.name), known.events >= Self.silentEvents,
                let last = known.lastRecordedAt, isOlder(last, thanDays: Self.silentDays)
            {
                add(
                    .storeSilent,
                    "nothing has come of it since \(last)",
                    at: source.name,
                    do: (source.name == Source.appStore ? "`entitle test-notification`, and " : "")
                        + "look whether the store's console has this server's address"
                )
            }
            if known.gaps.contains(.neverAsked) {
                add(
                    .neverAsked,
                    "it was never asked for everything that it sent",
                    at: source.name,
                    do: Source.fetching(from: source.name)
                )
            }
            if known.gaps.contains(.cannotBeAsked) {
                add(
                    .cannotBeAsked,
                    "it has no list of what it sent: what did not arrive is not known",
                    at: source.name,
                    do: Source.fetching(from: source.name)
                )
            }
            if known.gaps.contains(.refused) {
                add(
                    .signalsRefused,
                    "signals in its name were refused at \(known.lastRefusedAt.map { "\($0)" } ?? "")",
                    at: source.name,
                    do: "`entitle events --type signal.noted` says why; then "
                        + Source.fetching(from: source.name)
                )
            }
        }
    }

    /// Looks at purchases of which a store has not told what it should have.
    package mutating func lookAtPurchases(_ doubts: PurchaseDoubts) {
        for (store, counts) in doubts.counts.sorted(by: { $0.key < $1.key }) {
            if counts.lacksRenewals {
                add(
                    .renewalsMissing,
                    "\(counts.renewalsExpected) renewals of \(counts.renewing) do not come",
                    at: store.text,
                    do: Source.fetching(from: store.text)
                        + ", and look whether its signals arrive"
                )
            }
            if counts.unacknowledged > 0 {
                add(
                    .unacknowledged,
                    "\(counts.unacknowledged) purchases are not acknowledged: Google takes them "
                        + "back after three days",
                    at: store.text,
                    do: "configure playStore.serviceAccountFile, of an account that may manage "
                        + "orders and subscriptions; a server acknowledges them then"
                )
            }
        }
    }
}
