/// A piece of evidence: what was received, taken apart so that what many messages have in common
/// is kept once and what is packed can be compressed.
///
/// The pieces of a body, one after the other, are its exact bytes.
public indirect enum EvidencePart: Hashable, Sendable {
    /// Bytes as received.
    case bytes([UInt8])
    /// Bytes as received that many messages have in common, such as a certificate chain; they
    /// hold no identity.
    case shared([UInt8])
    /// Pieces that stand in the body as one base64url text without padding (RFC 4648,
    /// section 5).
    case base64URL([EvidencePart])
}
