import Encodings
import Entitlements
import FoundationEssentials
import StoreSimulator
import Stores

/// The App Store's stand-in, whose word the verifier here takes.
struct FuzzedAppStore: Sendable {
    let store: SimulatedAppStore
    let verifier: AppStoreVerifier
    private let form: SignedForm

    /// A period's start, when it is signed.
    static let start = Instant(milliseconds: 1_767_225_600_000)
    /// A year later: nothing in the samples is of the future.
    static let now = start.advanced(byMilliseconds: 365 * Instant.millisecondsPerDay)

    init() throws {
        store = SimulatedAppStore(authority: try Self.authority())
        verifier = try AppStoreVerifier(
            AppStoreConfiguration(
                bundleIDs: [store.bundleID],
                appAppleID: store.appAppleID,
                roots: [store.authority.root]
            )
        )
        form = SignedForm(chain: store.authority.certificates)
    }

    /// Signs any bytes as the App Store would sign a payload.
    func signed(_ payload: [UInt8]) -> [UInt8] {
        // The key is ours, so nothing can go wrong.
        (try? store.authority.sign(payload, as: form)) ?? []
    }

    /// What stands for payloads as plain objects, signed, in a payload or an answer.
    func signingNested(_ json: JSONValue) -> JSONValue {
        if let elements = json.array { return .array(elements.map { signingNested($0) }) }
        guard let members = json.members else { return json }
        return .object(
            members.map { member in
                let value = signingNested(member.value)
                guard Self.signedNames.contains(member.name) else {
                    return JSONMember(member.name, value)
                }
                let signed = value.array.map { .array($0.map(signedText)) } ?? signedText(value)
                return JSONMember(member.name, signed)
            }
        )
    }

    private static let signedNames: Set<String> = [
        "signedTransactionInfo", "signedRenewalInfo", "signedAppTransactionInfo",
        "signedTransactions", "signedPayload",
    ]

    private func signedText(_ payload: JSONValue) -> JSONValue {
        guard payload.members != nil else { return payload }
        let jws = signed(Array(payload.description.utf8))
        return .string(String(decoding: jws, as: UTF8.self))
    }

    /// The same keys for each process of a run, so that one takes what another has signed.
    private static func authority() throws -> SigningAuthority {
        let validity = start.advanced(byMilliseconds: -365 * Instant.millisecondsPerDay)..<now
        guard let path = Fuzz.environment["FUZZ_AUTHORITY"] else {
            return try SigningAuthority(validity: validity)
        }
        let file = URL(filePath: path)
        if let pem = try? Data(contentsOf: file) {
            return try SigningAuthority(pem: String(decoding: pem, as: UTF8.self))
        }
        let authority = try SigningAuthority(validity: validity)
        try Data(authority.pem.utf8).write(to: file)
        return authority
    }
}

extension FuzzedAppStore {
    /// Payloads of every kind, with what is signed inside them as plain objects.
    func payloads() -> [JSONValue] {
        let transaction = store.transactionPayload(start: Self.start)
        let renewal = store.renewalPayload(start: Self.start)
        var payloads = [
            transaction, renewal, Self.appTransaction(of: store),
            store.transactionPayload(start: Self.start, Self.moreOfTransactions),
            store.renewalPayload(start: Self.start, Self.moreOfRenewals),
        ]
        for (index, row) in rows.enumerated() {
            let notification = store.notificationPayload(
                row.type,
                row.subtype.isEmpty ? nil : row.subtype,
                id: "fuzz-\(index)",
                signedAt: Self.start
            )
            payloads.append(
                notification.setting(
                    "data",
                    (notification["data"] ?? .object([]))
                        .setting("signedTransactionInfo", transaction)
                        .setting("signedRenewalInfo", renewal)
                )
            )
        }
        return payloads
    }

    private var rows: [(type: String, subtype: String)] {
        AppStoreMapping.knownTypes.sorted { ($0.type, $0.subtype) < ($1.type, $1.subtype) }
    }

    private static func appTransaction(of store: SimulatedAppStore) -> JSONValue {
        .members([
            "receiptType": .string(store.environment), "appAppleId": .integer(store.appAppleID),
            "bundleId": .string(store.bundleID), "applicationVersion": "2",
            "receiptCreationDate": .integer(start.milliseconds), "originalApplicationVersion": "1",
            "originalPurchaseDate": .integer(start.milliseconds),
            "appTransactionId": "704000000000000001",
        ])
    }

    /// Members that the plain samples lack.
    private static let moreOfTransactions: JSONValue = .members([
        "originalTransactionId": "2000000100000000", "transactionReason": "RENEWAL",
        "appAccountToken": "7E3FB20B-4CDB-47CC-936D-99D65F608138", "offerType": .integer(1),
        "offerDiscountType": "FREE_TRIAL", "offerIdentifier": "offer",
        "inAppOwnershipType": "FAMILY_SHARED", "isUpgraded": .bool(true),
        "revocationDate": .integer(start.milliseconds), "revocationReason": .integer(1),
        "type": "Auto-Renewable Subscription",
    ])
    private static let moreOfRenewals: JSONValue = .members([
        "gracePeriodExpiresDate": .integer(start.milliseconds + 40 * Instant.millisecondsPerDay),
        "expirationIntent": .integer(2), "isInBillingRetryPeriod": .bool(true),
        "autoRenewStatus": .integer(0), "priceIncreaseStatus": .integer(0),
    ])

    /// Words of the App Store's that stand in no sample.
    static let words: JSONValue = .members([
        "type": .strings(["Non-Consumable", "Consumable", "Non-Renewing Subscription"]),
        "environment": .strings(["Sandbox", "Xcode", "LocalTesting"]),
        "offerDiscountType": .strings(["PAY_AS_YOU_GO", "PAY_UP_FRONT"]),
        "revocationType": .strings(["REFUND_FULL", "REFUND_PRORATED", "FAMILY_REVOKE"]),
        "revocationPercentage": .array([.integer(50_000), .integer(100_000)]),
        "externalPurchaseId": .strings(["SANDBOX_1", "1"]), "externalPurchaseToken": .object([]),
        "summary": .object([]), "appData": .object([]), "signedAppTransactionInfo": .object([]),
        "requestIdentifier": "request",
    ])
}

extension JSONValue {
    /// The object with one member set.
    func setting(_ name: String, _ value: JSONValue) -> JSONValue {
        .object((members ?? []).filter { $0.name != name } + [JSONMember(name, value)])
    }
}
