/// Why a store's message is turned away before it means anything.
///
/// A refused message appends nothing to any purchase (stores.md, rule 5). The refusal holds no
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
    }

    /// Makes a refusal.
    public init(_ code: Code, _ path: String, _ detail: String) {
        self.code = code
        self.path = path
        self.detail = detail
    }

    /// The same refusal seen from further out.
    func inside(_ outerPath: String) -> SignalRefusal {
        SignalRefusal(code, path.isEmpty ? outerPath : outerPath + "." + path, detail)
    }
}
