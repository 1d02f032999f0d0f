import Crypto
import Encodings
import Entitlements
import StoreSimulator
import Testing

@testable import Stores

struct `The configuration of the stores` {
    private static let files: [String: @Sendable () throws -> [UInt8]] = [
        "root.pem": { Array(try AppStoreSample.authority.get().rootPEM.utf8) },
        "root.der": { try AppStoreSample.authority.get().root },
        "two.pem": {
            let pem = try AppStoreSample.authority.get().rootPEM
            return Array((pem + "\n" + pem + "\n").utf8)
        },
        "keys.pem": { Array(try AppStoreSample.authority.get().pem.utf8) },
        "key.p8": { Array(P256.Signing.PrivateKey().pemRepresentation.utf8) },
        "text": { Array("text".utf8) }, "secret": { Array("Bearer 16-bytes-of-text\r\n".utf8) },
        "short": { Array("Bearer 15-bytes-or-not".utf8) },
        "empty": { Array("\n".utf8) }, "spaced": { Array("sk_0123456789\r\nX-A: 1".utf8) },
    ]

    private struct NoFile: Error {}

    private static func read(_ text: String) throws -> StoresConfiguration {
        try StoresConfiguration(parsing: Array(text.utf8)) { name in
            guard let file = files[name] else { throw NoFile() }
            return try file()
        }
    }

    private static func appStore(_ members: String) -> String {
        #"{"appStore":{"bundleIds":["com.example.app"],\#(members)}}"#
    }

    @Test func `reads what the design shows`() throws {
        let configuration = try Self.read(
            """
            {"appStore":{"bundleIds":["com.example.app"],"appAppleId":1234567890,
              "environments":["production","sandbox"],"roots":["root.pem","root.der"],
              "checkRevocation":true,"issuerId":"i","keyId":"k","privateKeyFile":"key.p8"},
             "playStore":{"packageNames":["com.example.app"],
              "licenseKeys":["\(PlaySample.store.get().licenseKeyText)"],
              "pushAudience":"a","pushServiceAccount":"b"},
             "revenueCat":{"authorizationFile":"secret","hmacSecretFile":"secret",
              "apiKeyFile":"secret","projectId":"p"}}
            """
        )
        let appStore = try #require(configuration.appStore)
        let root = try AppStoreSample.authority.get().root
        #expect(appStore.bundleIDs == ["com.example.app"])
        #expect(appStore.appAppleID == 1_234_567_890)
        #expect(appStore.environments == [.production, .sandbox])
        #expect(appStore.roots == AppStoreConfiguration.builtInRoots + [root, root])
        #expect(configuration.checksRevocation && appStore.revocation == nil)
        #expect(configuration.appStoreAccess?.keyID == "k")
        #expect(configuration.appStoreAccess?.apiURL == nil)
        let playStore = try #require(configuration.playStore)
        #expect(playStore.packageNames == ["com.example.app"])
        #expect(playStore.licenseKeys.count == 1)
        #expect(playStore.push == PlayPushIdentity(audience: "a", serviceAccount: "b"))
        #expect(configuration.revenueCat?.authorization == Array("Bearer 16-bytes-of-text".utf8))
        #expect(configuration.revenueCat?.hmacSecret == Array("Bearer 16-bytes-of-text".utf8))
        #expect(configuration.revenueCat?.apiKey == Array("16-bytes-of-text".utf8))
        #expect(configuration.revenueCat?.projectID == "p")
        #expect(configuration.revenueCat?.apiURL == nil)
    }

    // Stores, rule 9: another's word beside a store's own
    @Test(arguments: [
        ("revenueCat", #""apiURL":"http://127.0.0.1:8080""#, "revenueCat.apiURL"),
        ("playStore", #""packageNames":["a"],"apiURL":"https://a.b""#, "playStore.apiURL"),
        ("playStore", #""packageNames":["a"],"tokenURL":"https://a.b""#, "playStore.tokenURL"),
        ("playStore", #""packageNames":["a"],"jwksURL":"https://a.b""#, "playStore.jwksURL"),
    ])
    func `has no other address beside Apple's roots`(
        _ store: String,
        _ members: String,
        _ path: String
    ) throws {
        func text(_ roots: String) -> String {
            #"{"appStore":{"bundleIds":["a"],"appAppleId":1\#(roots)},"\#(store)":{\#(members)}}"#
        }
        let fault = #expect(throws: InputFault.self) { try Self.read(text("")) }
        #expect(fault?.path == path)
        // The controls: with roots of its own, and where the App Store is not listened to.
        _ = try Self.read(text(#","builtInRoots":false,"roots":["root.der"]"#))
        _ = try Self.read(#"{"\#(store)":{\#(members)}}"#)
    }

    @Test func `names a simulator's addresses`() throws {
        let configuration = try Self.read(
            #"{"revenueCat":{"apiKeyFile":"secret","projectId":"p","apiURL":"http://127.0.0.1:8080"}}"#
        )
        #expect(configuration.revenueCat?.apiURL == "http://127.0.0.1:8080")
    }

    @Test func `says nothing of stores that it does not name`() throws {
        let empty = try Self.read("{}")
        #expect(empty.appStore == nil && empty.revenueCat == nil && !empty.checksRevocation)
        let own = try Self.read(
            Self.appStore(#""environments":["sandbox"],"builtInRoots":false,"roots":["two.pem"]"#)
        )
        let root = try AppStoreSample.authority.get().root
        #expect(own.appStore?.roots == [root, root])
        #expect(own.appStore?.environments == [.sandbox])
    }

    @Test(arguments: [
        ("", ""), ("[]", ""), (#"{"appStore":{},"appStore":{}}"#, ""),
        (#"{"appstore":{}}"#, "appstore"), (#"{"appStore":7}"#, "appStore"),
        (#"{"appStore":{}}"#, "appStore.bundleIds"),
        (#"{"appStore":{"bundleIds":[]}}"#, "appStore.bundleIds"),
        (#"{"appStore":{"bundleIds":["a",7]}}"#, "appStore.bundleIds[1]"),
        (appStore(#""bundleId":"x""#), "appStore.bundleId"),
        (appStore(#""appAppleId":"1""#), "appStore.appAppleId"),
        (appStore(#""appAppleId":0"#), "appStore.appAppleId"),
        (appStore(#""environments":["production"]"#), "appStore.appAppleId"),
        (appStore(#""environments":["sandbox","local"]"#), "appStore.environments[1]"),
        (appStore(#""environments":[]"#), "appStore.environments"),
        (appStore(#""appAppleId":1,"roots":["text"]"#), "appStore.roots[0]"),
        (appStore(#""appAppleId":1,"roots":["root.der","keys.pem"]"#), "appStore.roots[1]"),
        (appStore(#""appAppleId":1,"builtInRoots":false"#), "appStore.roots"),
        (appStore(#""appAppleId":1,"builtInRoots":"no""#), "appStore.builtInRoots"),
        (appStore(#""appAppleId":1,"issuerId":"i""#), "appStore.keyId"),
        (appStore(#""appAppleId":1,"keyId":"k","privateKeyFile":"key.p8""#), "appStore.issuerId"),
        (
            appStore(#""appAppleId":1,"issuerId":"i","keyId":"k","privateKeyFile":"text""#),
            "appStore.privateKeyFile"
        ),
        // Stores, rule 9: another's word beside Apple's
        (appStore(#""appAppleId":1,"apiURL":"https://example.com""#), "appStore.apiURL"),
        (
            appStore(
                #""appAppleId":1,"builtInRoots":false,"roots":["root.der"],"apiURL":"http://example.com""#
            ),
            "appStore.apiURL"
        ),
        (#"{"revenueCat":{"authorizationFile":"empty"}}"#, "revenueCat.authorizationFile"),
        (#"{"revenueCat":{"authorizationFile":"short"}}"#, "revenueCat.authorizationFile"),
        (#"{"revenueCat":{"hmacSecretFile":"text"}}"#, "revenueCat.hmacSecretFile"),
        (#"{"revenueCat":{"authorization":"x"}}"#, "revenueCat.authorization"),
        (#"{"revenueCat":{"apiKeyFile":"short"}}"#, "revenueCat.apiKeyFile"),
        (#"{"revenueCat":{"apiKeyFile":"spaced"}}"#, "revenueCat.apiKeyFile"),
        (#"{"revenueCat":{"apiURL":"http://example.com"}}"#, "revenueCat.apiURL"),
        (#"{"revenueCat":{"apiURL":"https://example.com/"}}"#, "revenueCat.apiURL"),
        (#"{"playStore":{"packages":[]}}"#, "playStore.packages"),
        (#"{"playStore":{}}"#, "playStore.packageNames"),
        (#"{"playStore":{"packageNames":[]}}"#, "playStore.packageNames"),
        (#"{"playStore":{"packageNames":["a"],"licenseKeys":["x"]}}"#, "playStore.licenseKeys[0]"),
        (
            #"{"playStore":{"packageNames":["a"],"pushAudience":"x"}}"#,
            "playStore.pushServiceAccount"
        ),
        (
            #"{"playStore":{"packageNames":["a"],"pushServiceAccount":"x"}}"#,
            "playStore.pushAudience"
        ),
    ])
    func `is refused with the member's path`(_ text: String, _ path: String) throws {
        let fault = #expect(throws: InputFault.self) { try Self.read(text) }
        #expect(fault?.path == path)
    }

    @Test func `passes on why a file cannot be read`() {
        #expect(throws: NoFile.self) {
            try Self.read(Self.appStore(#""appAppleId":1,"roots":["absent"]"#))
        }
    }

    @Test func `refuses roots that are no certificates also when they are given directly`() {
        let fault = #expect(throws: InputFault.self) {
            try AppStoreVerifier(AppStoreConfiguration(bundleIDs: ["a"], roots: [[1, 2, 3]]))
        }
        #expect(fault?.path == "appStore.roots[0]")
    }

    @Test func `of an authority survives as text`() async throws {
        let authority = try AppStoreSample.authority.get()
        let again = try SigningAuthority(pem: authority.pem)
        #expect(again.certificates == authority.certificates)
        let jws = try SimulatedAppStore(authority: again).transaction(start: AppStoreSample.start)
        let verifier = try AppStoreSample.verifier()
        #expect(await verifier.transaction(jws, now: AppStoreSample.now).refusal == nil)
        #expect(throws: InputFault.self) {
            try SigningAuthority(pem: authority.rootPEM)
        }
    }
}
