import Encodings
import Entitlements
import ModelSupport
import Stores

/// A webhook body of RevenueCat's, from a channel that vouches for it.
struct RevenueCatTarget: FuzzTarget {
    private let bodies: [JSONValue]
    private let mutation: JSONMutation

    /// When everything arrives: after what the bodies say, and before some of what is made of it.
    private static let now = Instant(milliseconds: 1_769_904_000_000)

    /// Members of a subscription's second period.
    private static let period: JSONValue = .members([
        "event_timestamp_ms": .integer(1_767_225_660_000), "app_user_id": "user",
        "aliases": .strings(["user", "$RCAnonymousID:1"]), "original_app_user_id": "user",
        "product_id": "pro:monthly", "period_type": "NORMAL",
        "purchased_at_ms": .integer(1_767_225_600_000),
        "expiration_at_ms": .integer(1_769_904_000_000), "store": "PLAY_STORE",
        "environment": "PRODUCTION", "transaction_id": "t2", "original_transaction_id": "o1",
        "price_in_purchased_currency": .number("9.99"), "currency": "EUR", "country_code": "DE",
    ])

    /// Members that only some events have.
    private static let more: JSONValue = .members([
        "cancel_reason": "CUSTOMER_SUPPORT", "expiration_reason": "SUBSCRIPTION_PAUSED",
        "grace_period_expiration_at_ms": .integer(1_770_508_800_000),
        "auto_resume_at_ms": .integer(1_772_323_200_000), "new_product_id": "pro:yearly",
        "is_family_share": .bool(true), "offer_code": "code", "presented_offering_id": "main",
        "transferred_from": .strings(["a", "b"]), "transferred_to": .strings(["c"]),
        "redeemed_from": .strings(["a"]), "redeemed_by": .strings(["c"]),
        "redemption_outcome": "transfer", "price": .number("-9.990000000000001"),
        "paywall_id": "p", "session_id": "s", "purchase_environment": "SANDBOX",
    ])

    init() {
        let types = RevenueCatMapping.knownTypes.sorted()
        bodies = types.enumerated().flatMap { index, type in
            let plain = Self.period.setting("type", .string(type))
                .setting("id", .string("event-\(index)"))
            let full = JSONValue.object(
                (plain.members ?? []) + (Self.more.members ?? []).filter { $0.name != "paywall_id" }
            )
            return [.members(["api_version": "1.0", "event": plain]), full]
        }
        mutation = JSONMutation(
            wordsOf: bodies,
            and: .members([
                "environment": "SANDBOX", "paywall_id": "p", "commission_percentage": .integer(1),
                "period_type": .strings(["TRIAL", "INTRO", "PROMOTIONAL", "PREPAID"]),
                "store": .strings(["APP_STORE", "STRIPE"]), "type": "NEW_TYPE",
                "cancel_reason": .strings(["UNSUBSCRIBE", "BILLING_ERROR"]),
                "expiration_reason": "CUSTOMER_SUPPORT",
            ])
        )
    }

    func seeds() -> [[UInt8]] { bodies.map { Array($0.description.utf8) } }

    func mutated(
        _ input: [UInt8],
        upTo limit: Int,
        using generator: inout SplitMix64
    ) -> [UInt8] {
        mutation.mutated(input, upTo: limit, using: &generator)
    }

    func run(_ input: [UInt8]) {
        if case .success(let webhook) = UnverifiedRevenueCatWebhook.reading(bytes: input) {
            let trusted = webhook.trusting(.authenticatedRequest, receivedAt: Self.now)
            let submission = RevenueCatMapping.submission(for: trusted, body: input)
            submission.demandLaws(source: Source.revenueCat, evidence: input)
            PlantedFault.strike(
                submission.environment == .sandbox
                    && submission.events.contains { $0.kind == .purchaseGraceStarted }
                    && submission.events.contains {
                        $0.data.text(.name) == "customer_ids_passed_over"
                    }
            )
        }
        guard let json = try? JSONValue(parsing: input) else { return }
        for case .success(let submission) in RevenueCatImport.outcomes(of: json, now: Self.now) {
            submission.demandLaws(
                source: Source.revenueCat,
                evidence: submission.evidence ?? []
            )
        }
    }
}
