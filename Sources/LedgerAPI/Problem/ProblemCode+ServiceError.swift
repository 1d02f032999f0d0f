extension ProblemCode {
    /// What an app tells its customer of this problem (Promises, "Errors"; rows 2.5, 8.2).
    ///
    /// `store`: whose message it is about; nil: no store's.
    package func serviceError(of store: String? = nil) -> ServiceError {
        switch self {
        case .notSigned:
            ServiceError(.notSigned, platform: store)
        case .wrongBundle, .wrongApp:
            ServiceError(.wrongBundle, platform: store)
        case .badSignature, .wrongAlgorithm: ServiceError(.invalidSignature, platform: store)
        case .badChain, .untrustedRoot, .wrongOID, .expiredCertificate, .revokedCertificate,
            .wrongEnvironment, .disagreement:
            ServiceError(.verificationFailed, platform: store)
        case .claimedByAnother: ServiceError(.claimedByAnother)
        case .trialUsed: ServiceError(.trialUsed)
        case .purchaseInProgress, .storeUnavailable:
            ServiceError(.storeProblem, isRetryable: true)
        case .unknownTrial, .unknownFeature: ServiceError(.notOffered)
        case .unknownGrant, .unknownUse: ServiceError(.nothingToUndo)
        case .notAllowed: ServiceError(.notIncluded)
        case .overLimit: ServiceError(.overLimit)
        case .unauthenticated: ServiceError(.signedOut)
        case .forbidden: ServiceError(.forbidden)
        case .keyReused: ServiceError(.sentBefore)
        case .malformed, .missingField, .invalidValue, .outOfRange, .unknownField,
            .unknownParameter, .invalidRequest, .tooLarge, .headTooLarge, .unsupportedMediaType,
            .invalidCatalog:
            ServiceError(.decodingError)
        case .storage, .storageFull: ServiceError(.databaseError)
        case .rateLimited: ServiceError(.tooManyRequests)
        case .busy, .noLeader, .behind, .clockBehind, .clockAhead, .futureDate:
            ServiceError(.busy)
        case .notConfigured: ServiceError(.keyNotFound)
        case .methodNotAllowed, .notFound, .conflict, .unknownCustomer, .unknownPurchase,
            .notPermitted, .recordedTime, .unknownSequence, .readOnly, .internal,
            .emptyRange, .customerMissing, .otherCustomer, .erased, .otherLedger, .otherHistory,
            .differs:
            ServiceError(.unknown, isRetryable: isRetryable)
        }
    }
}
