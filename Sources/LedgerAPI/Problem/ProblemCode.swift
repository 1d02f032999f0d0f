/// Every reason for which a call is not answered as asked: a closed set.
///
/// The raw value is the `code` of a problem document (RFC 9457).
package enum ProblemCode: String, CaseIterable, Sendable {
    // What the request looks like
    case invalidRequest = "invalid_request"
    case malformed
    case missingField = "missing_field"
    case invalidValue = "invalid_value"
    case outOfRange = "out_of_range"
    case unknownField = "unknown_field"
    case unknownParameter = "unknown_parameter"
    case tooLarge = "too_large"
    case headTooLarge = "head_too_large"
    case unsupportedMediaType = "unsupported_media_type"
    case methodNotAllowed = "method_not_allowed"
    case notFound = "not_found"

    // Who asks
    case unauthenticated
    case forbidden
    case rateLimited = "rate_limited"

    // What the ledger says
    case conflict
    case keyReused = "idempotency_key_reused"
    case claimedByAnother = "claimed_by_another"
    case trialUsed = "trial_used"
    case unknownTrial = "unknown_trial"
    case unknownFeature = "unknown_feature"
    case unknownGrant = "unknown_grant"
    case unknownUse = "unknown_use"
    case unknownPurchase = "unknown_purchase"
    case unknownCustomer = "unknown_customer"
    case notAllowed = "not_allowed"
    case overLimit = "over_limit"
    case purchaseInProgress = "purchase_in_progress"
    case invalidCatalog = "invalid_catalog"
    case notPermitted = "not_permitted"
    case recordedTime = "recorded_time"
    case unknownSequence = "unknown_sequence"
    case emptyRange = "empty_range"
    case behind
    case otherHistory = "other_history"

    // What becomes of a decision token that is asked again (row Z11)
    case customerMissing = "customer_missing"
    case otherCustomer = "other_customer"
    case erased
    case otherLedger = "other_ledger"
    case differs

    // What a store's evidence says (Stores, rule 2)
    case notSigned = "not_signed"
    case wrongAlgorithm = "wrong_algorithm"
    case badChain = "bad_chain"
    case untrustedRoot = "untrusted_root"
    case wrongOID = "wrong_oid"
    case expiredCertificate = "expired_certificate"
    case revokedCertificate = "revoked_certificate"
    case badSignature = "bad_signature"
    case wrongBundle = "wrong_bundle"
    case wrongApp = "wrong_app"
    case wrongEnvironment = "wrong_environment"
    case futureDate = "future_date"
    case disagreement
    case notConfigured = "not_configured"
    case storeUnavailable = "store_unavailable"

    // What is wrong with us
    case readOnly = "read_only"
    case busy
    case noLeader = "no_leader"
    case clockBehind = "clock_behind"
    case clockAhead = "clock_ahead"
    case storageFull = "storage_full"
    case storage
    case `internal`
}

extension ProblemCode {
    /// The HTTP status.
    ///
    /// 4xx only for what can never succeed as it was sent, 5xx where the fault is ours, so that a
    /// store sends again (Stores, rule 10).
    package var status: Int {
        switch self {
        case .invalidRequest, .malformed, .missingField, .invalidValue, .outOfRange,
            .unknownField, .unknownParameter, .customerMissing:
            400
        case .unauthenticated: 401
        case .forbidden, .notAllowed, .readOnly, .notPermitted: 403
        case .notFound, .unknownTrial, .unknownFeature, .unknownGrant, .unknownUse,
            .unknownPurchase, .unknownCustomer, .emptyRange:
            404
        case .methodNotAllowed: 405
        case .conflict, .claimedByAnother, .trialUsed, .overLimit, .purchaseInProgress,
            .recordedTime, .otherCustomer, .differs, .otherHistory:
            409
        case .erased: 410
        case .tooLarge: 413
        case .unsupportedMediaType: 415
        case .keyReused, .invalidCatalog, .unknownSequence, .otherLedger, .notSigned,
            .wrongAlgorithm, .badChain, .untrustedRoot, .wrongOID, .expiredCertificate,
            .revokedCertificate, .badSignature, .wrongBundle, .wrongApp, .wrongEnvironment,
            .futureDate, .disagreement:
            422
        case .rateLimited: 429
        case .headTooLarge: 431
        case .internal, .storage: 500
        case .notConfigured, .storeUnavailable, .behind, .busy, .noLeader, .clockBehind,
            .clockAhead:
            503
        case .storageFull: 507
        }
    }

    /// Whether the same call may succeed later.
    ///
    /// What was signed in the future will have been signed in the past: the ledger's clock may be slow.
    package var isRetryable: Bool {
        switch self {
        case .rateLimited, .purchaseInProgress, .behind, .notConfigured, .futureDate,
            .storeUnavailable, .busy, .noLeader, .clockBehind, .clockAhead, .storageFull, .storage,
            .internal:
            true
        default: false
        }
    }

    /// A few words that do not change with the occurrence.
    package var title: String {
        switch self {
        case .invalidRequest: "The request is not valid"
        case .malformed: "Not what is expected here"
        case .missingField: "A member is missing, or has another shape"
        case .invalidValue: "A value has another shape"
        case .outOfRange: "A value lies outside its range"
        case .unknownField: "A member is not known"
        case .unknownParameter: "A parameter is not known"
        case .tooLarge: "Too large"
        case .headTooLarge: "The head of the request is too large"
        case .unsupportedMediaType: "The body is not JSON"
        case .methodNotAllowed: "The method is not allowed here"
        case .notFound: "Not found"
        case .unauthenticated: "A valid key or token is required"
        case .forbidden: "The key or token may not do this"
        case .rateLimited: "Too many requests"
        case .conflict: "It conflicts with what is known"
        case .keyReused: "The idempotency key was used for something else"
        case .claimedByAnother: "Another customer owns the purchase"
        case .trialUsed: "The trial was used before"
        case .unknownTrial: "The catalog has no such trial"
        case .unknownFeature: "The catalog has no such feature"
        case .unknownGrant: "There is no such grant"
        case .unknownUse: "There is no such use"
        case .unknownPurchase: "The purchase is not known"
        case .unknownCustomer: "Nothing is recorded under this id"
        case .notAllowed: "Nothing unlocks the feature"
        case .overLimit: "The limit is reached"
        case .purchaseInProgress: "Another purchase is under way"
        case .invalidCatalog: "The catalog has faults"
        case .notPermitted: "Only the ledger itself records this"
        case .recordedTime: "The recorded time does not fit"
        case .unknownSequence: "The log is not that long"
        case .emptyRange: "The range has no event"
        case .behind: "The ledger has not come that far yet"
        case .otherHistory: "The ledger has other events up to there"
        case .customerMissing: "The customer must be named"
        case .otherCustomer: "It is about another customer"
        case .erased: "The customer's name is gone"
        case .otherLedger: "It is of another ledger"
        case .differs: "The answer is another one now"
        case .notSigned: "It is not signed as the store signs"
        case .wrongAlgorithm: "It is signed by another algorithm than the store's"
        case .badChain: "The certificate chain does not hold"
        case .untrustedRoot: "The certificate chain ends in a root that is not trusted"
        case .wrongOID: "A certificate is not one for receipts"
        case .expiredCertificate: "A certificate was not valid when this was signed"
        case .revokedCertificate: "A certificate is revoked"
        case .badSignature: "The signature does not fit"
        case .wrongBundle: "It belongs to another bundle"
        case .wrongApp: "It belongs to another app"
        case .wrongEnvironment: "It belongs to another environment"
        case .futureDate: "It was signed in the future"
        case .disagreement: "Its parts disagree"
        case .notConfigured: "It is not configured here"
        case .storeUnavailable: "The store cannot be asked now"
        case .readOnly: "The server only reads"
        case .busy: "Busy"
        case .noLeader: "No machine that leads the cluster can be reached"
        case .clockBehind: "The clock is behind the log"
        case .clockAhead: "The clock is not believed"
        case .storageFull: "The disk is full"
        case .storage: "The storage failed"
        case .internal: "A fault of the program"
        }
    }
}
