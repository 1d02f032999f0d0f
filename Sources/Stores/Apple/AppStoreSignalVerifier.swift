public import Entitlements

/// Tells whether a message is the App Store's word.
///
/// Two types do: `AppStoreVerifier`, and for tests of an app `LocalTestingVerifier`.
public protocol AppStoreSignalVerifier: Sendable {
    /// Judges one compact JWS as received, by our clock.
    ///
    /// Without a `kind` it may be whatever it shows to be.
    func signal(
        _ jws: [UInt8],
        expecting kind: AppStoreSignalKind?,
        now: Instant
    ) async -> Result<VerifiedAppStoreSignal, SignalRefusal>
}

extension AppStoreSignalVerifier {
    /// Judges the `signedPayload` of a notification, with what is nested in it.
    public func notification(
        _ jws: [UInt8],
        now: Instant
    ) async -> Result<VerifiedAppStoreNotification, SignalRefusal> {
        await signal(jws, expecting: .notification, now: now).flatMap {
            if case .notification(let found) = $0 { .success(found) } else { .otherKind }
        }
    }

    /// Judges a signed transaction, such as an app hands in.
    public func transaction(
        _ jws: [UInt8],
        now: Instant
    ) async -> Result<VerifiedAppStoreTransaction, SignalRefusal> {
        await signal(jws, expecting: .transaction, now: now).flatMap {
            if case .transaction(let found) = $0 { .success(found) } else { .otherKind }
        }
    }

    /// Judges signed renewal info.
    public func renewalInfo(
        _ jws: [UInt8],
        now: Instant
    ) async -> Result<VerifiedAppStoreRenewalInfo, SignalRefusal> {
        await signal(jws, expecting: .renewalInfo, now: now).flatMap {
            if case .renewalInfo(let found) = $0 { .success(found) } else { .otherKind }
        }
    }

    /// Judges a signed app transaction.
    public func appTransaction(
        _ jws: [UInt8],
        now: Instant
    ) async -> Result<VerifiedAppTransaction, SignalRefusal> {
        await signal(jws, expecting: .appTransaction, now: now).flatMap {
            if case .appTransaction(let found) = $0 { .success(found) } else { .otherKind }
        }
    }
}

extension Result where Failure == SignalRefusal {
    /// A verifier that gives another kind than it was asked for.
    fileprivate static var otherKind: Self {
        .failure(SignalRefusal(.invalidValue, "payload", "of another kind than expected"))
    }
}
