extension ProblemCode {
    /// What an app tells its customer of this problem (Promises, "Errors"; rows 2.5, 8.2).
    public var serviceError: ServiceError {
        switch self {
        case .notSigned:
            ServiceError(.purchaseInvalid, reason: .notSigned, platform: "app_store")
        case .wrongBundle, .wrongApp:
            ServiceError(.purchaseInvalid, reason: .wrongBundle, platform: "app_store")
        case .badSignature, .wrongAlgorithm: ServiceError(.invalidSignature, platform: "app_store")
        case .badChain, .untrustedRoot, .wrongOID, .expiredCertificate, .revokedCertificate,
            .wrongEnvironment, .futureDate, .disagreement:
            ServiceError(.verificationFailed, platform: "app_store")
        case .claimedByAnother, .trialUsed: ServiceError(.purchaseInvalid)
        case .purchaseInProgress: ServiceError(.storeProblem, isRetryable: true)
        case .unknownTrial, .unknownFeature, .unknownGrant, .unknownUse:
            ServiceError(.productUnavailable)
        case .malformed, .missingField, .invalidValue, .outOfRange, .unknownField,
            .unknownParameter, .invalidRequest, .tooLarge, .unsupportedMediaType, .invalidCatalog:
            ServiceError(.decodingError)
        case .storage, .storageFull: ServiceError(.databaseError)
        case .rateLimited, .busy, .notThereYet, .clockBehind, .clockAhead:
            ServiceError(.networkError)
        case .notConfigured: ServiceError(.keyNotFound)
        case .methodNotAllowed, .notFound, .unauthenticated, .forbidden, .conflict, .keyReused,
            .notAllowed, .overLimit, .unknownCustomer, .notPermitted, .recordedTime,
            .unknownSequence, .readOnly,
            .internal:
            ServiceError(.unknown, isRetryable: isRetryable)
        }
    }
}
