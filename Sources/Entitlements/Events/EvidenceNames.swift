/// Reads whom kept evidence names.
///
/// An erasure asks it of evidence that the loss of somebody's keys does not close by itself.
public protocol EvidenceNames: Sendable {
    /// The customers and purchases that a payload names, each once.
    ///
    /// `source`: whose payload it is; none are read of a source that is not known.
    func subjects(namedIn evidence: [UInt8], source: String) -> [Subject]
}
