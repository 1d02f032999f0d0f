/// What judging kept evidence again came to.
package enum EvidenceVerdict: Sendable, Hashable {
    /// It is signed, and the signature held when it was signed.
    case verified
    /// Its source signs nothing: the channel that it came by vouched for it.
    case unsigned
    /// It is not what its source says; the reason as a code of a closed set.
    case refused(code: String)
    /// Nobody is configured who could tell.
    case unchecked
}

/// Judges kept evidence again, as of when it was signed.
package protocol EvidenceVerifier: Sendable {
    /// Judges a payload as it was received.
    ///
    /// `event`: the first that was read from it. `recordedAt`: when (T3), for "signed in the future".
    func verdict(
        on evidence: [UInt8],
        of event: Event,
        recordedAt: Instant
    ) async -> EvidenceVerdict
}
