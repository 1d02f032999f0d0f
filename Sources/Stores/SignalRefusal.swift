/// Why a store's message is turned away before it means anything.
///
/// A refused message appends nothing to any purchase (Stores, rule 5). The refusal holds no
/// value from the message, so that it may be logged and answered with.
public struct SignalRefusal: Error, Hashable, Sendable {
    /// What is wrong.
    public var code: Code
    /// Where, such as `event.id` or `[2].event.id`; empty for the whole.
    public var path: String
    /// A sentence that says what is expected.
    public var detail: String

    /// The closed set of reasons.
    public enum Code: String, CaseIterable, Sendable {
        /// Not JSON, or not an object.
        case malformed
        /// A member that must be there is absent.
        case missingField = "missing_field"
        /// A value of another shape.
        case invalidValue = "invalid_value"
        /// A number, an instant or a length outside its range.
        case outOfRange = "out_of_range"
        /// Larger than its limit.
        case tooLarge = "too_large"
        /// Without a signature, or without the certificates to check it by.
        case notSigned = "not_signed"
        /// Signed by an algorithm other than the one that the store uses.
        case wrongAlgorithm = "wrong_algorithm"
        /// Certificates that are not a chain of the store's form.
        case badChain = "bad_chain"
        /// A chain that ends at a root that is not trusted.
        case untrustedRoot = "untrusted_root"
        /// A certificate that the store's authority did not issue for this use.
        case wrongOID = "wrong_oid"
        /// A certificate that was not valid when the message was signed.
        case expiredCertificate = "expired_certificate"
        /// A certificate that its authority has taken back.
        case revokedCertificate = "revoked_certificate"
        /// A signature that is not the certificate's over these bytes.
        case badSignature = "bad_signature"
        /// Meant for another app, by its bundle id.
        case wrongBundle = "wrong_bundle"
        /// Meant for another app, by its id in the store.
        case wrongApp = "wrong_app"
        /// From an environment that is not accepted here.
        case wrongEnvironment = "wrong_environment"
        /// Signed at a time that has not come yet.
        case futureDate = "future_date"
        /// Parts of one message that contradict each other.
        case disagreement
    }

    /// Makes a refusal.
    public init(_ code: Code, _ path: String, _ detail: String) {
        self.code = code
        self.path = path
        self.detail = detail
    }

    /// This refusal seen from further out, at a longer path.
    func inside(_ outerPath: String) -> SignalRefusal {
        SignalRefusal(code, path.isEmpty ? outerPath : outerPath + "." + path, detail)
    }
}
