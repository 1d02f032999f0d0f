import Encodings
import Entitlements
import StoreSimulator
import Stores

/// What Google Play says, from a channel that vouches for it: a push, an answer of the API, a list of what was
/// given back, a notification without the base64 around it, or purchase data without the signature, which
/// nobody would get past by chance.
struct PlayTarget: MutatingFuzzTarget {
    private let store: SimulatedPlayStore
    private let bodies: [JSONValue]
    let mutation: JSONMutation
    private let configuration: PlayConfiguration

    /// When everything arrives: after what the bodies say, and before some of what is made of it.
    private static let now = Instant(milliseconds: 1_769_904_000_000)
    private static let start = Instant(milliseconds: 1_767_225_600_000)
    private static let token = "token-1"

    init() throws {
        let store = try SimulatedPlayStore()
        self.store = store
        configuration = PlayConfiguration(
            packageNames: [Name(store.packageName)],
            licenseKeys: [PlayLicenseKey(base64: store.licenseKeyText)].compactMap(\.self)
        )
        let end = Self.start.advanced(byMilliseconds: 31 * Instant.millisecondsPerDay)
        let states = PlayMapping.knownStates
        let subscriptions = states.enumerated().map { index, state in
            let answer = store.subscription(
                order: "GPA.1..\(index)",
                start: Self.start,
                end: end,
                .members(["subscriptionState": .string(state), "linkedPurchaseToken": "token-0"])
            )
            let push = store.push(
                subscription: index + 1,
                token: Self.token,
                id: "m\(index)",
                at: Self.start
            )
            return store.answer(answer, of: Self.token, at: end, after: push)
        }
        let products = [
            JSONValue.members([
                "purchaseState": .integer(0), "purchaseTimeMillis": "1767225600000",
                "productId": "life", "orderId": "GPA.2", "quantity": .integer(2),
                "refundableQuantity": .integer(0), "consumptionState": .integer(1),
            ]),
            .members([
                "purchaseStateContext": .members(["purchaseState": "PURCHASED"]),
                "productLineItem": .array([.members(["productId": "life"])]),
                "purchaseCompletionTime": "2026-01-01T00:00:00Z",
            ]),
        ].map { store.answer($0, of: Self.token, at: end) }
        let notifications = [
            "subscriptionNotification", "oneTimeProductNotification", "voidedPurchaseNotification",
            "pendingRefundReviewNotification", "testNotification",
        ].map { kind in
            JSONValue.members([
                "packageName": .string(store.packageName), "eventTimeMillis": "1767225660000",
            ])
            .setting(
                kind,
                .members([
                    "notificationType": .integer(4), "purchaseToken": .string(Self.token),
                    "orderId": "GPA.1", "refundType": .integer(1), "sku": "life",
                ])
            )
        }
        bodies =
            try subscriptions + products + notifications + Self.signed(by: store) + [
                Self.voided(by: store)
            ]
        mutation = JSONMutation(
            wordsOf: bodies,
            and: .members([
                "testPurchase": .object([]), "canceledStateContext": .object([]),
                "userInitiatedCancellation": .members(["cancelTime": "2026-01-03T00:00:00Z"]),
                "pausedStateContext": .members(["autoResumeTime": "2026-03-01T00:00:00Z"]),
                "prepaidPlan": .object([]), "offerPhase": .members(["freeTrial": .object([])]),
                "externalAccountIdentifiers": .members(["obfuscatedExternalAccountId": "user"]),
                "acknowledgementState": "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
                "notificationType": .array([.integer(2), .integer(12), .integer(20)]),
                "deferredItemReplacement": .members(["productId": "next"]),
            ])
        )
    }

    /// What apps are told of purchases: paid, to be paid later, a subscription.
    private static func signed(by store: SimulatedPlayStore) throws -> [JSONValue] {
        let changes: [JSONValue] = [
            .object([]), .members(["purchaseState": .integer(4)]),
            .members([
                "autoRenewing": .bool(true), "obfuscatedAccountId": "user",
                "quantity": .integer(2),
            ]),
        ]
        return try changes.map { change in
            try JSONValue(parsing: Array(store.purchaseData(at: start, change).utf8))
        }
    }

    private static func voided(by store: SimulatedPlayStore) -> JSONValue {
        .members([
            "packageName": .string(store.packageName),
            "answer": .members([
                "voidedPurchases": .array([
                    .members([
                        "kind": "androidpublisher#voidedPurchase", "purchaseToken": .string(token),
                        "orderId": "GPA.1", "purchaseTimeMillis": "1767225600000",
                        "voidedTimeMillis": "1767225660000", "voidedSource": .integer(0),
                        "voidedReason": .integer(1), "voidedQuantity": .integer(1),
                    ])
                ])
            ]),
        ])
    }

    func seeds() -> [[UInt8]] { bodies.map { Array($0.description.utf8) } }

    func run(_ input: [UInt8]) {
        guard let json = try? JSONValue(parsingStoreText: input) else { return }
        for submission in take(json) {
            let methods = submission.events.compactMap { $0.data.text(.method) }
            demand(
                !methods.contains(VerificationMethod.playSignature.rawValue),
                "only what was signed is accepted"
            )
        }
        if json["purchaseTime"] != nil || json["purchaseState"] != nil,
            let signed = try? store.signed(json.description)
        {
            take(signed)
        }
        // As a push would hold it.
        take(
            .members([
                "message": .members([
                    "messageId": "m", "data": .string(Base64.encode(input.span)),
                ])
            ])
        )
    }

    @discardableResult
    private func take(_ json: JSONValue) -> [Submission] {
        let submissions = PlayImport.outcomes(of: json, configuration: configuration, now: Self.now)
            .compactMap { try? $0.get() }
        for submission in submissions {
            submission.demandLaws(
                source: Source.playStore,
                evidence: submission.evidence ?? []
            )
            PlantedFault.strike(
                submission.environment == .sandbox
                    && submission.events.contains { $0.data.flag(.autoRenew) == false }
            )
        }
        return submissions
    }
}
