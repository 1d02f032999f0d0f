import Encodings
import Entitlements
import Stores

/// A webhook body of RevenueCat's, from a channel that vouches for it, or an answer of its API.
struct RevenueCatTarget: MutatingFuzzTarget {
    private let bodies: [JSONValue]
    let mutation: JSONMutation

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

    /// Answers of both versions, and a row of an export.
    private static let answers: [JSONValue] = [
        .members([
            "request_date_ms": .integer(1_767_225_660_000),
            "subscriber": .members([
                "original_app_user_id": "$RCAnonymousID:1", "aliases": .strings(["user"]),
                "subscriptions": .members([
                    "pro": .members([
                        "purchase_date": "2026-01-01T00:00:00Z",
                        "original_purchase_date": "2025-12-01T00:00:00Z",
                        "expires_date": "2026-02-01T00:00:00Z",
                        "grace_period_expires_date": "2026-02-08T00:00:00Z",
                        "billing_issues_detected_at": .null, "refunded_at": .null,
                        "unsubscribe_detected_at": .null, "auto_resume_date": .null,
                        "period_type": "normal", "store": "play_store", "is_sandbox": .bool(false),
                        "store_transaction_id": "GPA.1..0", "ownership_type": "PURCHASED",
                        "price": .members(["amount": .number("9.99"), "currency": "EUR"]),
                    ])
                ]),
                "non_subscriptions": .members([
                    "life": .array([
                        .members([
                            "purchase_date": "2026-01-01T00:00:00Z", "store": "app_store",
                            "store_transaction_id": "o1", "is_sandbox": .bool(true),
                        ])
                    ])
                ]),
            ]),
        ]),
        .members([
            "appUserId": "user", "observedAt": "2026-01-15T00:00:00Z",
            "transactions": .members([
                "sub1": .array([
                    .members([
                        "items": .array([
                            .members([
                                "id": "t1", "purchased_at": .integer(1_764_547_200_000),
                                "product_store_identifier": "pro",
                                "expiration_date": .integer(1_767_225_600_000),
                                "effective_expiration_date": .integer(1_767_225_700_000),
                            ])
                        ])
                    ])
                ])
            ]),
            "products": .members(["prod1": .members(["store_identifier": "pro"])]),
            "answer": .members([
                "object": "list",
                "items": .array([
                    .members([
                        "object": "subscription", "id": "sub1", "product_id": "prod1",
                        "starts_at": .integer(1_764_547_200_000),
                        "current_period_starts_at": .integer(1_767_225_600_000),
                        "current_period_ends_at": .integer(1_769_904_000_000),
                        "gives_access": .bool(true), "auto_renewal_status": "will_renew",
                        "status": "active", "environment": "production", "store": "app_store",
                        "store_subscription_identifier": "t2", "ownership": "purchased",
                    ]),
                    .members([
                        "object": "purchase", "customer_id": "user", "product_id": "prod1",
                        "purchased_at": .integer(1_767_225_600_000), "quantity": .integer(2),
                        "status": "refunded", "environment": "sandbox", "store": "stripe",
                        "store_purchase_identifier": "s1",
                    ]),
                ]),
            ]),
        ]),
        .members([
            "rc_original_app_user_id": "user", "store": "app_store", "is_auto_renewable": "true",
            "product_identifier": "pro", "start_time": "2026-01-01 00:00:00",
            "end_time": "2026-02-01 00:00:00", "effective_end_time": "2026-02-01 00:00:00",
            "store_transaction_id": "t2", "original_store_transaction_id": "t1",
            "renewal_number": "2", "purchase_price_in_usd": "9.99",
        ]),
    ]

    init() {
        let types = RevenueCatMapping.knownTypes.sorted()
        bodies =
            types.enumerated().flatMap { index, type in
                let plain = Self.period.setting("type", .string(type))
                    .setting("id", .string("event-\(index)"))
                let full = JSONValue.object(
                    (plain.members ?? [])
                        + (Self.more.members ?? []).filter { $0.name != "paywall_id" }
                )
                return [.members(["api_version": "1.0", "event": plain]), full]
            } + Self.answers
        mutation = JSONMutation(
            wordsOf: bodies,
            and: .members([
                "environment": "SANDBOX", "paywall_id": "p", "commission_percentage": .integer(1),
                "period_type": .strings(["TRIAL", "INTRO", "PROMOTIONAL", "PREPAID"]),
                "store": .strings(["APP_STORE", "STRIPE"]), "type": "NEW_TYPE",
                "cancel_reason": .strings(["UNSUBSCRIBE", "BILLING_ERROR"]),
                "expiration_reason": "CUSTOMER_SUPPORT",
                "status": .strings(["expired", "paused", "in_grace_period", "in_billing_retry"]),
            ])
        )
    }

    func seeds() -> [[UInt8]] { bodies.map { Array($0.description.utf8) } }

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
