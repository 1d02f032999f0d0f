import Encodings
import EntitlementLedger
import Entitlements
import StoreSimulator
import Stores

@testable import LedgerServer

/// An App Store of the tests' own, which the server trusts.
enum AppStoreWorld {
    /// Signs for all tests: keys cost time.
    static let authority = Result { try SigningAuthority(validity: validity) }

    /// The certificates', in whole seconds.
    static let validity = noon.plus(seconds: -400 * 86_400)..<noon.plus(seconds: 400 * 86_400)
    /// When the sample's month begins.
    static let start = noon.plus(seconds: -10 * 86_400)
    /// When it ends.
    static let end = start.plus(seconds: 30 * 86_400)
    /// The sample's purchase.
    static let purchase = "app_store/2000000100000001"
    /// Whom an `appAccountToken` names.
    static let account = customer.text
    static let customer: CustomerID = "5b3f9a52-6c0e-4c5e-9a5e-0d4c2a7f1b90"

    static func store(_ environment: String = "Production") throws -> SimulatedAppStore {
        SimulatedAppStore(authority: try authority.get(), environment: environment)
    }

    /// Takes the store's messages.
    static func setup() throws -> TestServer.Setup {
        let store = try store()
        var setup = TestServer.Setup()
        setup.stores.appStore = try AppStoreVerifier(
            AppStoreConfiguration(
                bundleIDs: [store.bundleID],
                appAppleID: store.appAppleID,
                roots: [store.authority.root]
            )
        )
        return setup
    }

    /// The body of a notification.
    static func body(_ jws: [UInt8]) -> String {
        JSONValue.members(["signedPayload": .string(String(decoding: jws, as: UTF8.self))])
            .description
    }

    /// The sample's month, bought under an account token.
    static func bought(_ id: String, account: String = account) throws -> String {
        body(
            try store().notification(
                "SUBSCRIBED",
                "INITIAL_BUY",
                id: id,
                start: start,
                transaction: .members(["appAccountToken": .string(account)])
            )
        )
    }

    /// A signed transaction of a purchase of its own, as a customer hands it in.
    static func transaction(_ number: Int, environment: String = "Production") throws -> String {
        let id = JSONValue.string("30000001000000" + String(number))
        let jws = try store(environment).transaction(
            start: start,
            .members(["transactionId": id, "originalTransactionId": id])
        )
        return item(jws)
    }

    /// What a claim's body, or an entry of a restore, is.
    static func item(_ jws: [UInt8]) -> String {
        JSONValue.members([
            "store": "app_store",
            "signedTransaction": .string(String(decoding: jws, as: UTF8.self)),
        ])
        .description
    }
}

extension TestServer {
    /// Every event of the log as a CloudEvent.
    func events() throws -> [JSONValue] {
        var events: [JSONValue] = []
        try ledger.questions.events(EventFilter(sequences: 0..<ledger.questions.size())) {
            _,
            event in
            events.append(event)
            return true
        }
        return events
    }

    /// The state of a customer.
    func state(_ customer: String, _ query: String = "") async throws -> JSONValue {
        try await get("/v1/customers/\(customer)\(query)").json
    }

    /// Whether a customer has a feature.
    func has(_ customer: String, _ feature: String) async throws -> Bool? {
        try await get("/v1/customers/\(customer)/features/\(feature)").json["allowed"]?.bool
    }
}
