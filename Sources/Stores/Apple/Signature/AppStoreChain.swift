import Crypto
import Encodings
import Entitlements
import FoundationEssentials
import Synchronization
import X509

/// A chain of certificates that was verified, with what it takes to judge the next message that
/// comes with the very same header.
///
/// Invariant: the certificates have signed one another up to a trusted root and carry the App
/// Store's markers. Whether they were valid at some time is asked each time.
final class AppStoreChain: Sendable {
    /// The first part of the JWS that it came with, as text: what it is known by.
    let header: [UInt8]
    /// Leaf, intermediate and the trusted root.
    let certificates: [Certificate]
    /// When the last check of revocation began, and what is known.
    let revocation = Mutex(RevocationState())

    private let key: P256.Signing.PublicKey
    private let validFrom: Instant
    private let validUntil: Instant
    /// The hash of the header and its `.`: the start of every text signed under this header.
    private let hashOfHeader: SHA256

    /// Takes certificates that were verified; nil unless the leaf's key is of P-256.
    init?(header: [UInt8], certificates: [Certificate]) {
        guard let leaf = certificates.first, let key = P256.Signing.PublicKey(leaf.publicKey)
        else { return nil }
        self.header = header
        self.certificates = certificates
        self.key = key
        validFrom = certificates.map { Instant(date: $0.notValidBefore) }.max() ?? .latest
        validUntil = certificates.map { Instant(date: $0.notValidAfter) }.min() ?? .earliest
        var hash = SHA256()
        hash.update(data: header + [UInt8(ascii: ".")])
        hashOfHeader = hash
    }

    /// Whether every certificate was valid at an instant, both ends included
    /// (RFC 5280, section 4.1.2.5).
    func isValid(at instant: Instant) -> Bool {
        // X.509 times are whole seconds: the last one counts to its end.
        validFrom <= instant && instant < validUntil.advanced(byMilliseconds: 1000)
    }

    /// Whether a JWS came with this chain's header.
    func isHeader(of jws: CompactJWS) -> Bool {
        let (own, other) = (header, jws.bytes)
        return own.span.holdsSame(as: other.span.extracting(0..<jws.headerEnd))
    }

    /// Whether the leaf's key has signed this JWS, which came with this chain's header.
    ///
    /// Cost: one P-256 verification and one hash of the payload.
    func hasSigned(_ jws: CompactJWS) throws(SignalRefusal) -> Bool {
        let raw = try jws.decodedSignature()
        // The length is right, so the bytes are a signature's form.
        guard let signature = try? P256.Signing.ECDSASignature(rawRepresentation: raw) else {
            return false
        }
        var hash = hashOfHeader
        hash.update(data: jws.payload)
        return key.isValidSignature(signature, for: hash.finalize())
    }
}

extension Instant {
    /// The instant of a certificate's time, whose year has four digits.
    init(date: Date) {
        self.init(milliseconds: Int64(date.timeIntervalSince1970.rounded(.down)) * 1000)
    }

    /// The instant as Foundation's date.
    var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
