/// All that is wrong with a catalog document.
public struct CatalogFaults: Error, Hashable, Sendable {
    /// The faults in the order of the document; at most ``limit``.
    public var faults: [InputFault]

    /// How many are listed: a document may have one in every few bytes.
    public static let limit = 1000
}
