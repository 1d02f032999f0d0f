import Crypto
package import Encodings
package import Entitlements
import Stores
import SwiftASN1
import X509

/// Signs as the App Store does, by certificates of its own: root, intermediate and leaf with the
/// marker OIDs.
///
/// For tests, demonstrations and the simulator. No default configuration trusts it: whoever wants
/// to must list its root.
package struct SigningAuthority: Sendable {
    private let rootKey: P384.Signing.PrivateKey
    private let intermediateKey: P384.Signing.PrivateKey
    private let leafKey: P256.Signing.PrivateKey
    /// Leaf, intermediate, root: DER.
    package let certificates: [[UInt8]]

    /// How an authority differs from the App Store's, to be refused.
    package struct Defects: Hashable, Sendable {
        /// The leaf lacks its marker.
        package var leafIsUnmarked = false
        /// The intermediate lacks its marker.
        package var intermediateIsUnmarked = false
        /// When the leaf alone is valid; nil: like the others.
        package var leafValidity: Range<Instant>?
        /// The root's name; nil: the simulator's.
        package var rootName: String?
        /// Where the leaf says that its revocation is told; no defect.
        package var responder: String?

        /// No defect.
        package init() {}
    }

    /// Makes new keys and certificates.
    ///
    /// The certificates are valid from the one end of `validity` to the other, in whole seconds.
    package init(validity: Range<Instant>, defects: Defects = Defects()) throws {
        try self.init(
            rootKey: P384.Signing.PrivateKey(),
            intermediateKey: P384.Signing.PrivateKey(),
            leafKey: P256.Signing.PrivateKey(),
            validity: validity,
            defects: defects
        )
    }

    private init(
        rootKey: P384.Signing.PrivateKey,
        intermediateKey: P384.Signing.PrivateKey,
        leafKey: P256.Signing.PrivateKey,
        validity: Range<Instant>,
        defects: Defects
    ) throws {
        self.rootKey = rootKey
        self.intermediateKey = intermediateKey
        self.leafKey = leafKey
        let rootName = defects.rootName ?? CertificateAuthority.rootName
        certificates = try [
            CertificateAuthority.leaf(
                leafKey.publicKey,
                issuer: intermediateKey,
                isMarked: !defects.leafIsUnmarked,
                responder: defects.responder,
                defects.leafValidity ?? validity
            ),
            CertificateAuthority.intermediate(
                intermediateKey,
                issuer: rootKey,
                rootName: rootName,
                isMarked: !defects.intermediateIsUnmarked,
                validity
            ),
            CertificateAuthority.root(rootKey, name: rootName, validity),
        ]
        .map { try $0.serializeAsPEM().derBytes }
    }

    /// Another authority with the same root and intermediate and a new leaf, as happens when
    /// certificates rotate.
    ///
    /// The new certificates are valid from the one end of `validity` to the other.
    package func renewed(
        validity: Range<Instant>,
        defects: Defects = Defects()
    ) throws -> SigningAuthority {
        try SigningAuthority(
            rootKey: rootKey,
            intermediateKey: intermediateKey,
            leafKey: P256.Signing.PrivateKey(),
            validity: validity,
            defects: defects
        )
    }

    /// The trust anchor, DER.
    package var root: [UInt8] { certificates[2] }

    /// The root certificate as PEM text.
    package var rootPEM: String {
        PEMDocument(type: Self.certificateType, derBytes: root).pemString
    }

    /// Signs a payload as a compact JWS with the chain in its header, as the App Store does.
    package func sign(_ payload: JSONValue) throws -> [UInt8] {
        try sign(Array(payload.description.utf8), as: SignedForm(chain: certificates))
    }

    /// Signs any bytes in a form of one's own choice, to be refused.
    package func sign(_ payload: [UInt8], as form: SignedForm) throws -> [UInt8] {
        let dot = UInt8(ascii: ".")
        let input =
            Base64.digits(of: form.headerBytes.span, .url) + [dot]
            + Base64.digits(of: payload.span, .url)
        let signature = try leafKey.signature(for: input)
        return input + [dot] + Base64.digits(of: Array(signature.rawRepresentation).span, .url)
    }

    /// Signs bytes with the intermediate's key by SHA-384, as an answer on revocation is.
    ///
    /// - Returns: The DER form of the signature.
    package func signAsIntermediate(_ bytes: [UInt8]) throws -> [UInt8] {
        Array(try intermediateKey.signature(for: bytes).derRepresentation)
    }

    private static let certificateType = "CERTIFICATE"
}

/// What stands in a JWS's header.
package struct SignedForm: Sendable {
    /// The header as JSON text.
    package var headerBytes: [UInt8]

    /// The App Store's form, but for what is given.
    ///
    /// - Parameters:
    ///   - algorithm: What stands as `alg`; nil: nothing.
    ///   - chain: DER certificates for `x5c`.
    ///   - more: Other members.
    package init(algorithm: String? = "ES256", chain: [[UInt8]], more: [JSONMember] = []) {
        let texts = chain.map { Base64.encode($0.span) }
        var members = algorithm.map { [JSONMember("alg", .string($0))] } ?? []
        members.append(JSONMember("x5c", .strings(texts)))
        headerBytes = Array(JSONValue.object(members + more).description.utf8)
    }

    /// Any header.
    package init(headerBytes: [UInt8]) { self.headerBytes = headerBytes }
}

extension SigningAuthority {
    /// Keys and certificates as PEM text, to be kept in a file that only its owner may read.
    package var pem: String {
        let keys = [
            leafKey.pemRepresentation, intermediateKey.pemRepresentation, rootKey.pemRepresentation,
        ]
        let documents = certificates.map {
            PEMDocument(type: Self.certificateType, derBytes: $0).pemString
        }
        return (keys + documents).joined(separator: "\n") + "\n"
    }

    /// Reads what `pem` gives.
    ///
    /// - Throws: If the text is not three keys and three certificates in that order.
    package init(pem: String) throws {
        let documents = try PEMDocument.parseMultiple(pemString: pem)
        guard documents.count == 6 else {
            throw InputFault(.malformed, "", "expected three keys and three certificates")
        }
        leafKey = try P256.Signing.PrivateKey(pemRepresentation: documents[0].pemString)
        intermediateKey = try P384.Signing.PrivateKey(pemRepresentation: documents[1].pemString)
        rootKey = try P384.Signing.PrivateKey(pemRepresentation: documents[2].pemString)
        certificates = documents[3...].map(\.derBytes)
    }
}
