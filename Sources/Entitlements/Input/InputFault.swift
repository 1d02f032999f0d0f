/// Why an input is not what is expected, with the path of the member: of an event, a catalog, a
/// question, a configuration.
public struct InputFault: Error, Hashable, Sendable {
    /// What is wrong.
    public var code: Code
    /// Where, such as `data.expiresAt` or `products[2].unlocks.tier`; empty for the whole.
    public var path: String
    /// A sentence that says what is expected.
    ///
    /// Holds no value from the input.
    public var detail: String
    /// What else is wrong with the same input, in its order: of a catalog all is listed.
    private var more: [InputFault] = []

    /// The closed set of reasons.
    public enum Code: String, Sendable {
        // Of any input.

        /// Not of the expected form.
        case malformed
        /// A value of another shape.
        case invalidValue = "invalid_value"
        /// A number or an instant outside its range.
        case outOfRange = "out_of_range"

        // Of events.

        /// The `type` is not one of the kinds.
        case unknownType = "unknown_type"
        /// A field that the kind does not have.
        case unknownField = "unknown_field"
        /// A required field is absent.
        case missingField = "missing_field"
        /// A subject of a kind that this type does not speak about.
        case wrongSubject = "wrong_subject"
        /// A type that only the ledger itself may record (C6).
        case notPermitted = "not_permitted"
        /// A catalog that K10 refuses.
        case invalidCatalog = "invalid_catalog"

        // Of catalogs (K10).

        /// A required member is absent.
        case missing
        /// The first tier is not `free`.
        case freeTierMissing = "free_tier_missing"
        /// A tier that the catalog does not list.
        case unknownTier = "unknown_tier"
        /// A feature that the catalog does not list.
        case unknownFeature = "unknown_feature"
        /// A product that the catalog does not list.
        case unknownProduct = "unknown_product"
        /// An id given twice.
        case duplicateID = "duplicate_id"
        /// Two products for one product id of a store.
        case ambiguousProduct = "ambiguous_product"
        /// Weights that sum to nothing.
        case noWeight = "no_weight"
        /// A limit without a period.
        case noPeriod = "no_period"
        /// A time zone that is not resolved.
        case unknownTimeZone = "unknown_time_zone"
        /// A member that catalogs do not have.
        case unknownMember = "unknown_member"
    }

    /// Makes a fault.
    public init(_ code: Code, _ path: String, _ detail: String) {
        self.code = code
        self.path = path
        self.detail = detail
    }

    /// Several faults of one input as one; nil: there is none.
    init?(_ faults: [InputFault]) {
        guard let first = faults.first else { return nil }
        self = first
        more = Array(faults.dropFirst())
    }

    /// Each fault of the input.
    package var all: [InputFault] { [InputFault(code, path, detail)] + more }
}
