public import Encodings
public import Entitlements

/// Reads whom kept payloads of the stores name, by each store's own members.
public struct StoredEvidenceNames: EvidenceNames {
    /// Makes a reader for all stores.
    public init() {}

    /// See `EvidenceNames`.
    public var impersonalMembers: Set<Name> { Self.members }

    private static let members = ImpersonalMembers.appStore
        .union(ImpersonalMembers.playStore)
        .union(ImpersonalMembers.revenueCat)

    /// See `EvidenceNames`.
    ///
    /// Cost: linear in the payload.
    public func subjects(namedIn evidence: [UInt8], source: String) -> [Subject] {
        PayloadNames(source: source)?.subjects(in: evidence) ?? []
    }
}
