package import Encodings

/// What a backend must trust of the simulated stores, and where it asks them.
extension SimulatedKeys {
    /// `stores.json` for stores below an address, which names files beside it.
    ///
    /// `url`: without `/` at its end. Apple's own roots are not trusted (Stores, rule 9).
    package func configuration(at url: String) -> JSONValue {
        let store = SimulatedAppStore(authority: authority)
        let play = url + SimulatedStores.playPath
        return .members([
            "appStore": .members([
                "bundleIds": .strings([store.bundleID]), "appAppleId": .integer(store.appAppleID),
                "roots": .strings([Self.rootName]), "builtInRoots": .bool(false),
                "issuerId": .string(SimulatedAppStoreAPI.issuerID),
                "keyId": .string(SimulatedAppStoreAPI.keyID),
                "privateKeyFile": "app-store-key.p8",
                "apiURL": .string(url + SimulatedStores.appStorePath),
            ]),
            "playStore": .members([
                "packageNames": .strings([playStore.packageName]),
                "licenseKeys": .strings([playStore.licenseKeyText]),
                "pushAudience": .string(playStore.audience),
                "pushServiceAccount": .string(playStore.serviceAccount),
                "serviceAccountFile": .string(Self.serviceAccountName),
                "apiURL": .string(play), "tokenURL": .string(play + SimulatedPlayAPI.tokenPath),
                "jwksURL": .string(url + SimulatedStores.keySetPath),
            ]),
            "revenueCat": .members([
                "authorizationFile": "revenuecat-authorization", "apiKeyFile": "revenuecat-key",
                "projectId": .string(Self.revenueCatProject),
                "apiURL": .string(url + SimulatedStores.revenueCatPath),
            ]),
        ])
    }

    /// What `stores.json` names, as texts by the names of files; without what only the stores
    /// themselves need.
    ///
    /// - Throws: what is wrong with a key.
    package func trustedFiles() throws -> [(name: String, text: String)] {
        let account = try SimulatedPlayAPI(
            packageName: playStore.packageName,
            keyPEM: playAccountKeyPEM
        ).serviceAccount
        return [
            (Self.rootName, authority.rootPEM),
            (Self.serviceAccountName, String(decoding: account, as: UTF8.self)),
            ("app-store-key.p8", appStoreKeyPEM), ("revenuecat-key", revenueCatKey),
            ("revenuecat-authorization", revenueCatAuthorization),
        ]
    }

    private static let rootName = "app-store-root.pem"
    private static let serviceAccountName = "play-service-account.json"
}
