/// Why an input is not an event: a refusal, with the path of the field.
public struct EventFault: Error, Hashable, Sendable {
    /// What is wrong.
    public var code: Code
    /// Where, such as `data.expiresAt`; empty for the whole.
    public var path: String
    /// A sentence that says what is expected.
    ///
    /// Holds no value from the input.
    public var detail: String

    /// The closed set of reasons.
    public enum Code: String, Sendable {
        /// Not a JSON object in the CloudEvents form.
        case malformed
        /// The `type` is not one of the kinds.
        case unknownType = "unknown_type"
        /// A field that the kind does not have.
        case unknownField = "unknown_field"
        /// A required field is absent.
        case missingField = "missing_field"
        /// A value of another shape.
        case invalidValue = "invalid_value"
        /// A number or an instant outside its range.
        case outOfRange = "out_of_range"
        /// A subject of a kind that this type does not speak about.
        case wrongSubject = "wrong_subject"
        /// A type that only the ledger itself may record (C6).
        case notPermitted = "not_permitted"
        /// A catalog that K10 refuses.
        case invalidCatalog = "invalid_catalog"
    }

    /// Makes a fault.
    public init(_ code: Code, _ path: String, _ detail: String) {
        self.code = code
        self.path = path
        self.detail = detail
    }
}
