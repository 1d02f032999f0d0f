public import Entitlements

/// Reads what Xcode and StoreKit Test make, without any check of a signature.
///
/// They sign with a certificate that every machine makes for itself, so nothing can be verified:
/// what it accepts stands in the environment `local` and gives access there only. Anybody can
/// write such a message; never offer this where others can post. Messages from production and
/// from the sandbox are refused.
public final class LocalTestingVerifier: AppStoreSignalVerifier {
    private let reader: AppStoreReader

    /// Makes a verifier for some apps.
    public init(bundleIDs: Set<String>) {
        reader = AppStoreReader(
            bundleIDs: bundleIDs,
            appAppleID: nil,
            environments: ["Xcode": .local, "LocalTesting": .local],
            trust: NoTrust()
        )
    }

    /// Reads one compact JWS; see `AppStoreSignalVerifier`.
    public func signal(
        _ jws: [UInt8],
        expecting kind: AppStoreSignalKind?,
        now: Instant
    ) async -> Result<VerifiedAppStoreSignal, SignalRefusal> {
        await reader.outcome(jws, expecting: kind, now: now)
    }
}

/// No trust: whatever is well-formed passes, unless it is from the future.
private struct NoTrust: AppStoreTrust {
    let isSigned = false

    func open(_ jws: CompactJWS) throws(SignalRefusal) -> OpenedJWS {
        OpenedJWS(jws: try jws.decoded(), chain: nil)
    }

    /// Clocks differ by less than a day: what is said of later days is absurd (Stores, rule 6).
    func admit(_ opened: OpenedJWS, signedAt: Instant, now: Instant) throws(SignalRefusal) {
        guard signedAt <= now.advanced(byMilliseconds: Instant.millisecondsPerDay) else {
            throw SignalRefusal(.futureDate, "payload", "expected a date of signing not to come")
        }
    }
}
