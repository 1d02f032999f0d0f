public import Encodings

/// Reads whom kept evidence names.
///
/// An erasure asks it of evidence that the loss of somebody's keys does not close by itself, an
/// export of what may be shown.
public protocol EvidenceNames: Sendable {
    /// Members of the sources' payloads whose values name no person.
    var impersonalMembers: Set<Name> { get }

    /// The customers and purchases that a payload names, each once.
    ///
    /// `source`: whose payload it is; none are read of a source that is not known.
    func subjects(namedIn evidence: [UInt8], source: String) -> [Subject]
}
