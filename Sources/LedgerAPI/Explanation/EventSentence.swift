import Encodings
import Entitlements

/// Events in sentences for support, in English: what each is, and every value that is shown of it.
enum EventSentence {
    /// An event in a sentence.
    ///
    /// `values`: what is shown of its data.
    static func text(_ kind: EventKind, _ values: [Entitlements.Field: FieldValue]) -> String {
        let details = values.sorted { $0.key < $1.key }.compactMap { field, value in
            // It stands behind the price.
            field == .currencyCode && values[.priceMicros] != nil
                ? nil : words(of: field) + " " + text(of: field, value, values)
        }
        return title(of: kind)
            + (details.isEmpty ? "." : ": " + details.joined(separator: ", ") + ".")
    }

    /// What an event is, in a few words.
    static func title(of kind: EventKind) -> String {
        switch kind {
        case .purchaseCompleted: "Bought"
        case .purchaseRenewed: "Renewed"
        case .purchaseExtended: "Extended"
        case .purchaseGraceStarted: "Grace began"
        case .purchaseRetryStarted: "Billing retry began"
        case .purchaseExpired: "Expired"
        case .purchasePaused: "Paused"
        case .purchaseResumed: "Resumed"
        case .purchaseRenewalChanged: "Renewal changed"
        case .purchasePending: "Purchase pending"
        case .purchaseAbandoned: "Purchase abandoned"
        case .purchaseLinked: "Purchase linked"
        case .purchaseAcknowledged: "Purchase acknowledged"
        case .verificationPassed: "Verified"
        case .verificationFailed: "Verification failed"
        case .revocationRefunded: "Refunded"
        case .revocationRevoked: "Revoked"
        case .revocationReversed: "Refund or revocation reversed"
        case .syncCompleted: "Store asked"
        case .syncReconciled: "Reconciled with the store"
        case .customerClaimed: "Purchase claimed"
        case .customerReleased: "Purchase released"
        case .customerLinked: "Customer linked"
        case .customerTransferred: "Purchases transferred"
        case .customerErased: "Customer erased"
        case .grantGiven: "Access granted"
        case .grantWithdrawn: "Grant withdrawn"
        case .trialStarted: "Trial started"
        case .usageRecorded: "Use recorded"
        case .usageReversed: "Use taken back"
        case .flowStarted: "Purchase flow started"
        case .flowSucceeded: "Purchase flow succeeded"
        case .flowFailed: "Purchase flow failed"
        case .flowCancelled: "Purchase flow cancelled"
        case .flowPending: "Purchase flow pending"
        case .flowRestored: "Purchases restored"
        case .signalNoted: "Message of a store noted"
        case .failureRecorded: "Error reported"
        case .accessLogged: "Looked at"
        case .catalogPublished: "Catalog published"
        }
    }

    /// What a field is called: its name in JSON as words, without what its value shows.
    private static func words(of field: Entitlements.Field) -> String {
        var words = ""
        for scalar in field.name.unicodeScalars {
            if scalar.properties.isUppercase { words += " " }
            words += scalar.properties.lowercaseMapping
        }
        for ending in [" id", " micros"] where words.hasSuffix(ending) {
            words.removeLast(ending.count)
        }
        return words
    }

    private static func text(
        of field: Entitlements.Field,
        _ value: FieldValue,
        _ values: [Entitlements.Field: FieldValue]
    ) -> String {
        switch value {
        case .text(let text): field.shape == .text ? "“\(text)”" : text
        case .integer(let micros) where field == .priceMicros:
            Decimals.units(ofMicros: String(micros))
                + (values[.currencyCode]?.text.map { " " + $0 } ?? "")
        case .integer(let number): String(number)
        case .instant(let instant): InstantText(language: .english, zone: .utc)(instant)
        case .flag(let flag): flag ? "yes" : "no"
        case .texts(let texts): texts.isEmpty ? "none" : texts.joined(separator: " and ")
        case .durations(let durations):
            durations.map { "\($0.name) \($0.milliseconds) ms" }.joined(separator: " and ")
        }
    }
}
