import Crypto
import Entitlements
import FoundationEssentials
import Stores
import SwiftASN1
import X509

/// Makes the certificates of a signing authority in the form of Apple's: root and intermediate
/// with keys of P-384, the leaf with one of P-256, with Apple's two marker OIDs.
enum CertificateAuthority {
    /// The names: they say what they are, and no one else's.
    static let rootName = "Simulated Root CA"
    private static let intermediateName = "Simulated Worldwide Developer Relations"
    private static let leafName = "Simulated App Store Receipt Signing"

    /// Who is named and for how long.
    struct Terms {
        var subject: String
        var issuer: String
        var validity: Range<Instant>
    }

    static func root(
        _ key: P384.Signing.PrivateKey,
        name: String,
        _ validity: Range<Instant>
    ) throws -> Certificate {
        try certificate(
            Terms(subject: name, issuer: name, validity: validity),
            key: Certificate.PublicKey(key.publicKey),
            issuerKey: key,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            }
        )
    }

    static func intermediate(
        _ key: P384.Signing.PrivateKey,
        issuer: P384.Signing.PrivateKey,
        rootName: String,
        isMarked: Bool,
        _ validity: Range<Instant>
    ) throws -> Certificate {
        try certificate(
            Terms(subject: intermediateName, issuer: rootName, validity: validity),
            key: Certificate.PublicKey(key.publicKey),
            issuerKey: issuer,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                comment(byteCount: 280)
                if isMarked { marker(AppStoreMarker.intermediate) }
            }
        )
    }

    static func leaf(
        _ key: P256.Signing.PublicKey,
        issuer: P384.Signing.PrivateKey,
        isMarked: Bool,
        responder: String?,
        _ validity: Range<Instant>
    ) throws -> Certificate {
        try certificate(
            Terms(subject: leafName, issuer: intermediateName, validity: validity),
            key: Certificate.PublicKey(key),
            issuerKey: issuer,
            extensions: Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                comment(byteCount: 560)
                if isMarked { marker(AppStoreMarker.leaf) }
                if let responder {
                    AuthorityInformationAccess([
                        .init(
                            method: .ocspServer,
                            location: .uniformResourceIdentifier(responder)
                        )
                    ])
                }
            }
        )
    }

    private static func certificate(
        _ terms: Terms,
        key: Certificate.PublicKey,
        issuerKey: P384.Signing.PrivateKey,
        extensions: Certificate.Extensions
    ) throws -> Certificate {
        try Certificate(
            version: .v3,
            serialNumber: Certificate.SerialNumber(),
            publicKey: key,
            notValidBefore: terms.validity.lowerBound.asDate,
            notValidAfter: terms.validity.upperBound.asDate,
            issuer: name(terms.issuer),
            subject: name(terms.subject),
            signatureAlgorithm: .ecdsaWithSHA384,
            extensions: extensions,
            issuerPrivateKey: Certificate.PrivateKey(issuerKey)
        )
    }

    private static func name(_ commonName: String) throws -> DistinguishedName {
        try DistinguishedName {
            CommonName(commonName)
            OrganizationName("entitle simulator")
        }
    }

    /// Apple's markers hold an ASN.1 null.
    private static func marker(_ oid: ASN1ObjectIdentifier) -> Certificate.Extension {
        Certificate.Extension(oid: oid, critical: false, value: [0x05, 0x00])
    }

    /// A comment that says what this is (Netscape's OID), as long as Apple's policies are, so
    /// that a signed message has a real one's size.
    private static func comment(byteCount: Int) -> Certificate.Extension {
        let sentence = Array("Made by the simulator. Trusted by no default configuration. ".utf8)
        let text = (0..<byteCount).map { sentence[$0 % sentence.count] }
        // IA5String (22) with a length of two bytes.
        let value = [0x16, 0x82, UInt8(byteCount >> 8), UInt8(byteCount & 0xFF)] + text
        let oid: ASN1ObjectIdentifier = [2, 16, 840, 1, 113_730, 1, 13]
        return Certificate.Extension(oid: oid, critical: false, value: value[...])
    }
}

extension Instant {
    fileprivate var asDate: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
