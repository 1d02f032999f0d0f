import Encodings
package import Entitlements

/// Judges kept evidence by each store's own rules: the App Store's by its signatures, Google Play's
/// purchase data by the app's key.
package struct StoredEvidenceVerifier: EvidenceVerifier {
    private let appStore: (any AppStoreSignalVerifier)?
    private let playStore: PlayConfiguration?

    /// Judges with what is configured; nil: nobody can tell of that store.
    package init(appStore: (any AppStoreSignalVerifier)?, playStore: PlayConfiguration? = nil) {
        self.appStore = appStore
        self.playStore = playStore
    }

    /// Judges a payload; of RevenueCat none is signed over its content.
    package func verdict(
        on evidence: [UInt8],
        of event: Event,
        recordedAt: Instant
    ) async -> EvidenceVerdict {
        if event.source == Source.playStore { return verdict(onPlay: evidence, of: event) }
        // Xcode signs local tests with a key of its own.
        guard event.source == Source.appStore, event.environment != .local else { return .unsigned }
        guard let appStore else { return .unchecked }
        let outcomes =
            if let json = try? JSONValue(parsingStoreText: evidence) {
                await AppStoreImport.outcomes(of: json, verifier: appStore, now: recordedAt)
            } else {
                [
                    await AppStoreImport.outcome(
                        ofJWS: evidence,
                        verifier: appStore,
                        now: recordedAt
                    )
                ]
            }
        var ids: Set<Name> = []
        for outcome in outcomes {
            switch outcome {
            case .success(let submission): ids.insert(Name(submission.id))
            case .failure(let refusal): return refusal.verdict
            }
        }
        return ids.contains(event.id) ? .verified : .refused(code: Self.otherSignal)
    }

    /// Google signs what it tells an app; what it tells us is known by the way that it came.
    private func verdict(onPlay evidence: [UInt8], of event: Event) -> EvidenceVerdict {
        guard let json = try? JSONValue(parsingStoreText: evidence),
            let data = json["purchaseData"]?.string, let signature = json["signature"]?.string
        else { return .unsigned }
        guard let playStore else { return .unchecked }
        let outcome = UnverifiedPlayPurchase.reading(purchaseData: data, signature: signature)
            .flatMap { $0.verified(by: playStore) }
        switch outcome {
        case .success(let purchase):
            return purchase.signalID.isSame(as: event.id)
                ? .verified : .refused(code: Self.otherSignal)
        case .failure(let refusal): return refusal.verdict
        }
    }

    /// It is the store's word, but not the one that the event was read from.
    static let otherSignal = "other_signal"
}

extension SignalRefusal {
    /// What a refusal says of evidence that was taken once.
    fileprivate var verdict: EvidenceVerdict {
        switch code {
        // Of an app or an environment that is configured no more: nobody here can tell.
        case .wrongBundle, .wrongApp, .wrongEnvironment: .unchecked
        default: .refused(code: code.rawValue)
        }
    }
}
