public import Entitlements

/// Judges kept evidence by each store's own rules: the App Store's by its signatures.
public struct StoredEvidenceVerifier: EvidenceVerifier {
    private let appStore: (any AppStoreSignalVerifier)?

    /// Judges with what is configured; nil: nobody can tell of the App Store.
    public init(appStore: (any AppStoreSignalVerifier)?) { self.appStore = appStore }

    /// Judges a payload; of RevenueCat none is signed over its content.
    public func verdict(
        on evidence: [UInt8],
        source: String,
        environment: StoreEnvironment,
        recordedAt: Instant
    ) async -> EvidenceVerdict {
        // Xcode signs local tests with a key of its own.
        guard source == Source.appStore, environment != .local else { return .unsigned }
        guard let appStore else { return .unchecked }
        switch await appStore.signal(evidence, expecting: nil, now: recordedAt) {
        case .success: return .verified
        case .failure(let refusal): return .refused(code: refusal.code.rawValue)
        }
    }
}
