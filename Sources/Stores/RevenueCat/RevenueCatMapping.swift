package import Encodings
public import Entitlements

/// From a webhook of RevenueCat's to what it says: a pure table, one row for each event type
/// (Stores, rule 1).
///
/// Types and fields: revenuecat.com/docs/integrations/webhooks/event-types-and-fields. Nothing is
/// dropped: a type that has no row, and a signal whose fields its row cannot use, become
/// `signal.noted` with the body as evidence (Stores, rules 5 and 6).
public enum RevenueCatMapping {
    /// What a webhook comes to; always at least one event.
    ///
    /// Every event is observed when RevenueCat said it (`event_timestamp_ms`), and holds from the
    /// time that its row gives. Cost: linear in the body.
    ///
    /// - Parameters:
    ///   - webhook: The trusted body.
    ///   - body: The bytes as received, kept as evidence.
    /// - Returns: A signal's submission, whose `id` is RevenueCat's event id.
    public static func submission(
        for webhook: VerifiedRevenueCatWebhook,
        body: [UInt8]
    ) -> Submission {
        submission(
            for: webhook,
            body: body,
            named: PayloadNames.revenueCat.subjects(in: body)
        )
    }

    /// `json`: the body, read by ``UnverifiedRevenueCatWebhook/json(of:)``.
    package static func submission(
        for webhook: VerifiedRevenueCatWebhook,
        body: [UInt8],
        readAs json: JSONValue
    ) -> Submission {
        submission(for: webhook, body: body, named: PayloadNames.revenueCat.subjects(in: json))
    }

    private static func submission(
        for webhook: VerifiedRevenueCatWebhook,
        body: [UInt8],
        named: [Subject]
    ) -> Submission {
        let event = webhook.event
        let meaning = meaning(of: event)
        let environment = event.environment ?? .production
        return Submission(
            id: SignalID.of(event.id),
            source: Source.revenueCat,
            environment: environment,
            nature: .signal,
            drafts: meaning.drafts + passedOver(meaning),
            evidence: body,
            named: named,
            links: meaning.links
        )
    }

    /// The event types that have a row.
    package static var knownTypes: Set<String> { Set(rows.keys) }

    private typealias Row =
        @Sendable (
            RevenueCatEvent
        ) throws(InputFault) -> RevenueCatMeaning

    private static func meaning(of event: RevenueCatEvent) -> RevenueCatMeaning {
        guard event.environment != nil else {
            // Neither environment may learn of a purchase in an unknown one.
            return RevenueCatMeaning(
                noting: event,
                on: RevenueCatMeaning.store(of: event),
                detail: "environment is not known"
            )
        }
        guard !event.isOddlyDated else {
            return RevenueCatMeaning(noting: event, detail: "event_timestamp_ms is absurd")
        }
        guard let row = rows[event.type] else { return RevenueCatMeaning(noting: event) }
        do throws(InputFault) {
            return try row(event)
        } catch {
            return RevenueCatMeaning(noting: event, detail: error.detail)
        }
    }

    /// Ids that were passed over are counted beside the facts, never named.
    static func passedOver(_ meaning: RevenueCatMeaning) -> [EventDraft] {
        guard meaning.passedOver > 0, let first = meaning.drafts.first else { return [] }
        let data = EventData(
            .signalNoted,
            [
                .name: .text("customer_ids_passed_over"),
                .detail: .text("\(meaning.passedOver) of the ids cannot be used"),
            ]
        )
        return [
            EventDraft(
                subject: first.subject,
                time: first.time,
                observedAt: first.observedAt,
                data: data
            )
        ]
    }

    private static let rows: [String: Row] = purchaseRows.merging(otherRows) { row, _ in row }

    /// Events about one purchase.
    private static let purchaseRows: [String: Row] = [
        "INITIAL_PURCHASE": lifecycle { p throws(InputFault) in
            try p.sale(.purchaseCompleted)
        },
        "RENEWAL": lifecycle { p throws(InputFault) in try p.sale(.purchaseRenewed) },
        "NON_RENEWING_PURCHASE": lifecycle { p throws(InputFault) in try p.oneTimeSale() },
        "TEMPORARY_ENTITLEMENT_GRANT": lifecycle { p throws(InputFault) in
            try p.temporaryGrant()
        },
        "CANCELLATION": lifecycle { p throws(InputFault) in try p.cancellation() },
        "UNCANCELLATION": lifecycle { p throws(InputFault) in p.uncancellation() },
        "BILLING_ISSUE": lifecycle { p throws(InputFault) in p.billingIssue() },
        "EXPIRATION": lifecycle { p throws(InputFault) in try p.expiration() },
        "SUBSCRIPTION_PAUSED": lifecycle { p throws(InputFault) in p.plannedPause() },
        "PRODUCT_CHANGE": lifecycle { p throws(InputFault) in try p.productChange() },
        "SUBSCRIPTION_EXTENDED": lifecycle { p throws(InputFault) in
            try p.extendedPeriod()
        },
        "REFUND_REVERSED": lifecycle { p throws(InputFault) in try p.refundReversal() },
    ]

    /// Events about customers, and those that are only noted.
    private static let otherRows: [String: Row] = [
        "TRANSFER": { event throws(InputFault) in
            RevenueCatMeaning(event, try RevenueCatTransfer(event))
        },
        "PURCHASE_REDEEMED": { event throws(InputFault) in
            RevenueCatMeaning(event, try RevenueCatTransfer(redeemedBy: event))
        },
        "SUBSCRIBER_ALIAS": { event throws(InputFault) in
            try RevenueCatMeaning(alias: event)
        },
        // A test names a purchase and a customer that do not exist.
        "TEST": { event throws(InputFault) in
            RevenueCatMeaning(noting: event, on: RevenueCatMeaning.store(of: event))
        },
        "INVOICE_ISSUANCE": noted,
        "VIRTUAL_CURRENCY_TRANSACTION": noted,
        "EXPERIMENT_ENROLLMENT": noted,
        "PRICE_INCREASE_CONSENT_REQUIRED": noted,
        "PRICE_INCREASE_CONSENT_APPROVED": noted,
        "PAYWALL_IMPRESSION": noted,
        "PAYWALL_CLOSE": noted,
        "PAYWALL_CANCEL": noted,
        "PAYWALL_EXIT_OFFER": noted,
        "PAYWALL_COMPONENT_INTERACTED": noted,
    ]

    private static let noted: Row = { event throws(InputFault) in
        RevenueCatMeaning(noting: event)
    }

    private static func lifecycle(
        _ drafts:
            @escaping @Sendable (RevenueCatPurchase) throws(InputFault) -> [EventDraft]
    ) -> Row {
        { event throws(InputFault) in try RevenueCatMeaning(event, drafts) }
    }
}
