package import Entitlements
import SwiftASN1
import X509

/// A certificate of those that signed a payload, as people read it: it names a company and its purpose,
/// nobody else.
package struct SigningCertificate: Sendable, Hashable {
    /// Whose it is, as its distinguished name says.
    package var subject: String
    /// From when on it is valid.
    package var validFrom: Instant
    /// Until when it is valid, the second included.
    package var validUntil: Instant

    /// The certificates under which a payload of the App Store is signed: leaf, intermediate, root.
    ///
    /// Nothing is verified: that is the verdict's affair. Of a notification they are the outer message's.
    /// Cost: linear in the payload.
    ///
    /// `evidence`: the bytes as they were received. Empty where no such message stands in them.
    package static func chain(of evidence: [UInt8]) -> [SigningCertificate] {
        guard let message = CompactJWS(firstIn: evidence),
            // What does not read as a signed message has no chain to show.
            let header = try? AppStoreHeader(message.decodedHeader())
        else { return [] }
        // As above.
        let certificates = header.certificates.compactMap { try? Certificate(derEncoded: $0) }
        guard certificates.count == header.certificates.count else { return [] }
        return certificates.map { certificate in
            SigningCertificate(
                subject: certificate.subject.description,
                validFrom: Instant(date: certificate.notValidBefore),
                validUntil: Instant(date: certificate.notValidAfter)
            )
        }
    }
}
