/// One thing that is wrong with a catalog document (K10).
public struct CatalogFault: Error, Hashable, Sendable {
    /// What is wrong.
    public var code: Code
    /// Where, such as `products[2].unlocks.tier`.
    public var path: String
    /// A sentence.
    public var detail: String

    /// The closed set of reasons.
    public enum Code: String, Sendable {
        /// Not of the expected shape.
        case malformed
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
        /// A number outside its range.
        case outOfRange = "out_of_range"
    }
}

/// All that is wrong with a catalog document.
public struct CatalogFaults: Error, Hashable, Sendable {
    /// The faults in the order of the document; at most ``limit``.
    public var faults: [CatalogFault]

    /// How many are listed: a document may have one in every few bytes.
    public static let limit = 1000
}
