package import SwiftASN1
import X509

/// What the App Store's own chains have beyond RFC 5280: exactly three certificates, and a marker
/// in the leaf and in the intermediate.
///
/// The markers are those that Apple's App Store Server Library checks (`ChainVerifier`,
/// github.com/apple/app-store-server-library-swift); their presence counts, they hold no value.
struct AppStoreMarkerPolicy: VerifierPolicy, Sendable {
    let verifyingCriticalExtensions: [ASN1ObjectIdentifier] = [
        AppStoreMarker.leaf, AppStoreMarker.intermediate,
    ]

    func chainMeetsPolicyRequirements(
        chain: UnverifiedCertificateChain
    ) -> PolicyEvaluationResult {
        guard chain.count == AppStoreLimits.certificateCount else {
            return .failsToMeetPolicy(reason: "expected three certificates")
        }
        guard AppStoreMarker.areIn(leaf: chain[0], intermediate: chain[1]) else {
            return .failsToMeetPolicy(reason: "expected the App Store's markers")
        }
        return .meetsPolicy
    }
}

/// The extensions by which Apple marks the certificates that sign for the App Store.
package enum AppStoreMarker {
    /// In the leaf: signs receipts and signed data of the App Store.
    package static let leaf: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]
    /// In the intermediate: Apple Worldwide Developer Relations.
    package static let intermediate: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 1]

    /// Whether both certificates carry theirs.
    static func areIn(leaf: Certificate, intermediate: Certificate) -> Bool {
        leaf.extensions[oid: Self.leaf] != nil
            && intermediate.extensions[oid: Self.intermediate] != nil
    }
}
