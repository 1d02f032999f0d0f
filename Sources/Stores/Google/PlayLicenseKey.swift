import Crypto
import CryptoExtras
import Encodings

/// The public key of an app in Google Play, by which it signs what the app is told of a purchase:
/// RSASSA-PKCS1-v1_5 with SHA-1 over the text as it is
/// (developer.android.com/google/play/billing/security).
///
/// SHA-1 is Google's choice: the signature says that Google Play made the text, and the Developer
/// API says what is true of it.
public struct PlayLicenseKey: Sendable {
    private let key: _RSA.Signing.PublicKey

    /// Bits that Google's keys have; shorter ones are no longer safe (NIST SP 800-131A).
    package static let bitMinimum = 2048
    /// Bits beyond which a key only costs time.
    package static let bitLimit = 4096

    /// Reads a key as the Play Console shows it: base64 of a DER SubjectPublicKeyInfo; nil: it is
    /// none, or shorter or longer than is taken.
    public init?(base64 text: String) { self.init(base64: text, bitMinimum: Self.bitMinimum) }

    /// `bitMinimum`: at least 1024, below which no key is read.
    package init?(base64 text: String, bitMinimum: Int) {
        guard let der = Base64.decode(text),
            // What is no key is told apart from one no further.
            let key = try? _RSA.Signing.PublicKey(unsafeDERRepresentation: der),
            (bitMinimum...Self.bitLimit).contains(key.keySizeInBits)
        else { return nil }
        self.key = key
    }

    /// Whether a signature is this key's over exactly these bytes.
    ///
    /// Cost: one verification, about 30 µs.
    package func accepts(_ signature: [UInt8], over bytes: [UInt8]) -> Bool {
        key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature),
            for: Insecure.SHA1.hash(data: bytes),
            padding: .insecurePKCS1v1_5
        )
    }
}
