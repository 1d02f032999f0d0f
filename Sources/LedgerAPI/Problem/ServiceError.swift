import Entitlements

/// What an app tells its customer when something did not work: a code of a closed set, whether
/// trying again helps, and a message in their language.
///
/// It holds nothing that identifies a person.
public struct ServiceError: Error, Hashable, Sendable {
    /// What happened.
    public var code: Code
    /// What more is known of it; each stands with one code only.
    public var reason: Reason?
    /// Whether the same request may succeed later.
    public var isRetryable: Bool
    /// Whose native code it is, such as `app_store` or `play_store`: lower snake case.
    public var platform: String?
    /// What the store or system called it, such as `SKErrorDomain/2`.
    public var nativeCode: String?

    /// Bytes that a native code may have at most.
    public static let nativeCodeByteLimit = 64

    /// Makes an error.
    ///
    /// A reason is kept with its own code only. `isRetryable` defaults to what the code
    /// says. A platform that is not lower snake case, and a native code that is not 1 to 64
    /// printable ASCII characters, come from outside and are left out.
    public init(
        _ code: Code,
        reason: Reason? = nil,
        isRetryable: Bool? = nil,
        platform: String? = nil,
        nativeCode: String? = nil
    ) {
        self.code = code
        self.reason = reason?.code == code ? reason : nil
        self.isRetryable = isRetryable ?? code.isRetryable
        self.platform = platform.flatMap { Identifier.isStore($0) ? $0 : nil }
        self.nativeCode = nativeCode.flatMap { Self.isNativeCode($0) ? $0 : nil }
    }

    /// Makes an error whose reason is known.
    init(_ reason: Reason, platform: String? = nil) {
        self.init(reason.code, reason: reason, platform: platform)
    }

    /// What happened and what to do, in one or two polite sentences.
    public func message(in language: Language) -> String {
        ServiceErrorMessages.texts(self)[language]
    }

    private static func isNativeCode(_ text: String) -> Bool {
        (1...nativeCodeByteLimit).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension ServiceError {
    /// The closed set of codes.
    public enum Code: String, CaseIterable, Sendable {
        /// The customer or the app gave up what it was doing.
        case cancelled = "CANCELLED"
        /// The server was not reached, or did not answer yet.
        case networkError = "NETWORK_ERROR"
        /// The store could not do its part; the native code says more.
        case storeProblem = "STORE_PROBLEM_ERROR"
        /// The customer closed the store's sheet.
        case purchaseCancelled = "PURCHASE_CANCELLED"
        /// The purchase can never count; the reason says why.
        case purchaseInvalid = "PURCHASE_INVALID"
        /// The product is not on sale.
        case productUnavailable = "PRODUCT_UNAVAILABLE"
        /// The purchase did not pass its checks.
        case verificationFailed = "VERIFICATION_FAILED"
        /// The purchase's signature is wrong.
        case invalidSignature = "INVALID_SIGNATURE"
        /// The key that a check needs is not there, or not yet.
        case keyNotFound = "KEY_NOT_FOUND"
        /// Data of an unexpected form.
        case decodingError = "DECODING_ERROR"
        /// Storage could not be read or written.
        case databaseError = "DB_ERROR"
        /// None of the others.
        case unknown = "UNKNOWN_ERROR"

        /// Whether the same request may succeed later, if nothing more is known.
        public var isRetryable: Bool {
            switch self {
            case .networkError, .storeProblem, .keyNotFound, .databaseError: true
            case .cancelled, .purchaseCancelled, .purchaseInvalid, .productUnavailable,
                .verificationFailed, .invalidSignature, .decodingError, .unknown:
                false
            }
        }
    }

    /// What more is known, so that a customer is told what they can do about it.
    public enum Reason: String, CaseIterable, Sendable {
        /// It does not carry the store's signature.
        case notSigned = "not_signed"
        /// It was made in another app.
        case wrongBundle = "wrong_bundle"
        /// It was refunded or revoked.
        case revoked
        /// Somebody else's account has it.
        case claimedByAnother = "claimed_by_another"
        /// The customer had this trial before.
        case trialUsed = "trial_used"
        /// The feature or trial that was asked for is not offered.
        case notOffered = "not_offered"
        /// What was to be taken back is not there.
        case nothingToUndo = "nothing_to_undo"
        /// The customer's plan does not include the feature.
        case notIncluded = "not_included"
        /// The uses of the day, week or month are gone, or one is larger than may be.
        case overLimit = "over_limit"
        /// No credential that counts was shown.
        case signedOut = "signed_out"
        /// The credential does not allow it.
        case forbidden
        /// Another request had the same id.
        case sentBefore = "sent_before"
        /// Too many requests in too short a time.
        case tooManyRequests = "too_many_requests"
        /// The server was reached, and cannot answer yet.
        case busy

        /// The code with which it stands.
        public var code: Code {
            switch self {
            case .notSigned, .wrongBundle, .revoked, .claimedByAnother, .trialUsed:
                .purchaseInvalid
            case .notOffered, .nothingToUndo: .productUnavailable
            case .notIncluded, .overLimit, .signedOut, .forbidden, .sentBefore: .unknown
            case .tooManyRequests, .busy: .networkError
            }
        }
    }
}
