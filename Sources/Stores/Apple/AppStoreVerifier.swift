public import Entitlements
import SwiftASN1
import Synchronization
import X509

/// Judges what the App Store has signed, fully offline unless revocation is asked about
/// (Stores, rule 2).
///
/// Any number of callers may ask at once. Cost: with a chain that was seen before one P-256
/// verification a JWS, else two certificate signatures more. A notification holds up to three.
public final class AppStoreVerifier: AppStoreSignalVerifier {
    private let reader: AppStoreReader
    private let trust: SignatureTrust

    /// Reads the trusted roots.
    ///
    /// - Throws: `InputFault` for a root that is not a DER certificate, and for an
    ///   environment in which nothing is signed by the App Store.
    public init(_ configuration: AppStoreConfiguration) throws(InputFault) {
        var environments: [String: StoreEnvironment] = [:]
        for environment in configuration.environments {
            switch environment {
            case .production: environments["Production"] = environment
            case .sandbox: environments["Sandbox"] = environment
            case .local:
                throw InputFault(
                    .invalidValue,
                    "appStore.environments",
                    "expected production or sandbox: local testing has a verifier of its own"
                )
            }
        }
        var roots: [Certificate] = []
        for (index, root) in configuration.roots.enumerated() {
            // Whatever the parser finds, it is not a certificate.
            guard let certificate = try? Certificate(derEncoded: root) else {
                throw InputFault(
                    .invalidValue,
                    "appStore.roots[\(index)]",
                    "expected a DER certificate"
                )
            }
            roots.append(certificate)
        }
        trust = SignatureTrust(
            verifier: AppStoreChainVerifier(roots: roots),
            cache: AppStoreChainCache(limit: configuration.chainCacheLimit),
            futureToleranceMilliseconds: configuration.futureToleranceMilliseconds,
            revocation: configuration.revocation
        )
        reader = AppStoreReader(
            bundleIDs: configuration.bundleIDs,
            appAppleID: configuration.appAppleID,
            environments: environments,
            trust: trust
        )
    }

    /// Judges one compact JWS; see `AppStoreSignalVerifier`.
    public func signal(
        _ jws: [UInt8],
        expecting kind: AppStoreSignalKind?,
        now: Instant
    ) async -> Result<VerifiedAppStoreSignal, SignalRefusal> {
        await reader.outcome(jws, expecting: kind, now: now)
    }

    /// How many verified chains are kept now.
    package var keptChainCount: Int { trust.cache.count }

    /// How many chains were verified in full since the start, also those that were refused.
    package var chainVerificationCount: Int {
        trust.chainVerifications.load(ordering: .relaxed)
    }
}

/// Trust by signature: a chain of certificates up to a root, valid when the message was signed.
final class SignatureTrust: AppStoreTrust {
    let isSigned = true
    let cache: AppStoreChainCache
    let chainVerifications = Atomic(0)
    private let verifier: AppStoreChainVerifier
    private let futureToleranceMilliseconds: Int64
    private let revocation: AppStoreRevocationCheck?

    init(
        verifier: AppStoreChainVerifier,
        cache: AppStoreChainCache,
        futureToleranceMilliseconds: Int64,
        revocation: AppStoreRevocationCheck?
    ) {
        self.verifier = verifier
        self.cache = cache
        self.futureToleranceMilliseconds = futureToleranceMilliseconds
        self.revocation = revocation
    }

    func open(_ jws: CompactJWS) async throws(SignalRefusal) -> OpenedJWS {
        let known = cache.chain(of: jws)
        let chain: AppStoreChain
        if let known {
            chain = known
        } else {
            chainVerifications.add(1, ordering: .relaxed)
            chain = try await verifier.chain(of: jws)
        }
        guard try chain.hasSigned(jws) else {
            throw SignalRefusal(.badSignature, "signature", "expected the certificate's")
        }
        // Only a header that was signed is kept: others can be made at will.
        if known == nil { cache.insert(chain) }
        return OpenedJWS(jws: try jws.decoded(), chain: chain)
    }

    func admit(
        _ opened: OpenedJWS,
        signedAt: Instant,
        now: Instant
    ) async throws(SignalRefusal) {
        guard let chain = opened.chain, chain.isValid(at: signedAt) else {
            throw SignalRefusal(
                .expiredCertificate,
                "header.x5c",
                "expected certificates that were valid when it was signed"
            )
        }
        guard signedAt <= now.advanced(byMilliseconds: futureToleranceMilliseconds) else {
            throw SignalRefusal(.futureDate, "payload", "expected a date of signing not to come")
        }
        guard let revocation else { return }
        guard await !revocation.isRevoked(chain) else {
            throw SignalRefusal(.revokedCertificate, "header.x5c", "revoked by its authority")
        }
    }
}
