import Encodings
package import Entitlements

/// Judges kept evidence by each store's own rules: the App Store's by its signatures.
package struct StoredEvidenceVerifier: EvidenceVerifier {
    private let appStore: (any AppStoreSignalVerifier)?

    /// Judges with what is configured; nil: nobody can tell of the App Store.
    package init(appStore: (any AppStoreSignalVerifier)?) { self.appStore = appStore }

    /// Judges a payload; of RevenueCat none is signed over its content.
    package func verdict(
        on evidence: [UInt8],
        of event: Event,
        recordedAt: Instant
    ) async -> EvidenceVerdict {
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
            case .failure(let refusal): return .refused(code: refusal.code.rawValue)
            }
        }
        return ids.contains(event.id) ? .verified : .refused(code: Self.otherSignal)
    }

    /// It is the store's word, but not the one that the event was read from.
    static let otherSignal = "other_signal"
}
