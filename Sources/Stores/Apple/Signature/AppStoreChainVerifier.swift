import Entitlements
import SwiftASN1
@_spi(DisableValidityCheck) import X509

/// Verifies the certificates of `x5c` up to a trusted root (Stores, rule 2).
///
/// Independent of time: when the certificates were valid is judged message by message, so that a
/// verified chain can be kept (`AppStoreChain`).
struct AppStoreChainVerifier: Sendable {
    let roots: [Certificate]

    /// Verifies the chain of a JWS whose header is not known yet.
    ///
    /// Cost: two certificate signatures, about 0.7 ms for Apple's of P-384.
    func chain(of jws: CompactJWS) async throws(SignalRefusal) -> AppStoreChain {
        let header = try AppStoreHeader(jws.decodedHeader())
        let certificates = try await verified(header.certificates)
        guard let chain = AppStoreChain(header: Array(jws.header), certificates: certificates)
        else {
            throw SignalRefusal(.badChain, "header.x5c[0]", "expected a key of P-256")
        }
        return chain
    }

    /// Leaf, intermediate and the trusted root that stands for the third, from three DER
    /// certificates in that order.
    func verified(_ encoded: [[UInt8]]) async throws(SignalRefusal) -> [Certificate] {
        let path = "header.x5c"
        let (leaf, intermediate, last) = try parsed(encoded)
        // A trust anchor is a name and a key (RFC 5280, section 6.1.1): the third certificate may
        // be another issue of a trusted root, but it is never passed over.
        let anchors = roots.filter {
            $0.subject == last.subject && $0.publicKey == last.publicKey
        }
        guard !anchors.isEmpty else {
            throw SignalRefusal(.untrustedRoot, "\(path)[2]", "expected a trusted root")
        }
        guard AppStoreMarker.areIn(leaf: leaf, intermediate: intermediate) else {
            throw SignalRefusal(.wrongOID, path, "expected the App Store's markers")
        }
        var verifier = Verifier(rootCertificates: CertificateStore(anchors)) {
            RFC5280Policy.withValidityCheckDisabled()
            AppStoreMarkerPolicy()
        }
        let result = await verifier.validate(
            leaf: leaf,
            intermediates: CertificateStore([intermediate])
        )
        guard case .validCertificate(let chain) = result else {
            throw SignalRefusal(.badChain, path, "expected each certificate signed by the next")
        }
        return Array(chain)
    }

    private func parsed(
        _ encoded: [[UInt8]]
    ) throws(SignalRefusal) -> (leaf: Certificate, intermediate: Certificate, last: Certificate) {
        guard encoded.count == AppStoreLimits.certificateCount else {
            throw SignalRefusal(
                .badChain,
                "header.x5c",
                "expected \(AppStoreLimits.certificateCount) certificates"
            )
        }
        var certificates: [Certificate] = []
        for (index, bytes) in encoded.enumerated() {
            // Whatever the parser finds, it is not a certificate.
            guard let certificate = try? Certificate(derEncoded: bytes) else {
                throw SignalRefusal(
                    .badChain,
                    "header.x5c[\(index)]",
                    "expected a DER certificate"
                )
            }
            certificates.append(certificate)
        }
        return (certificates[0], certificates[1], certificates[2])
    }
}
