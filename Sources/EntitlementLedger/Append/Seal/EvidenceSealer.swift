import Entitlements
import EventLog

/// Seals what a submission's events were read from, under the keys of all streams that they or the
/// payload name.
struct EvidenceSealer {
    let resolver: StreamResolver
    let randomness: RandomSource
    let sharedParts: SharedPartCache

    /// Evidence as it is handed to the writer.
    struct Sealed {
        var bytes: [UInt8]
        /// The streams whose keys it needs.
        var streams: [UInt64]
        /// The shared parts that the log does not hold yet.
        var sharedParts: [(digest: Digest, bytes: [UInt8])]
    }

    /// Seals evidence.
    ///
    /// `events`: those that were read from it.
    ///
    /// - Returns: what goes to the writer, and where it has a key of its own the event by which an
    ///   erasure finds it; refused where it is too large.
    /// - Throws: what vault and log throw.
    func seal(
        _ parts: [EvidencePart],
        of submission: Submission,
        _ events: [NumberedEvent]
    ) throws -> Decided<(sealed: Sealed, note: EventDraft?)> {
        guard parts.flattenedCount <= SealedEvidence.byteLimit else {
            let detail = "evidence has at most \(SealedEvidence.byteLimit) bytes"
            return .refused(Refusal(.tooLarge, "", detail))
        }
        let (streams, note) = try streams(of: submission, events)
        let list = EvidenceList(parts)
        let content = list?.content ?? parts.flattened
        let frame = Zstandard.compress(content)
        var randomness = randomness
        let sealed = Sealed(
            bytes: try SealedEvidence.seal(
                frame ?? content,
                encoding: .init(isInParts: list != nil, isCompressed: frame != nil),
                cover: note == nil ? .everybody : .itself,
                streams: keyed(streams),
                sharedParts: list?.sharedParts.map(\.digest) ?? [],
                nonce: SealingNonce(using: &randomness)
            ),
            streams: streams.sorted(),
            sharedParts: try list.map { try sharedParts.missing($0.sharedParts) } ?? []
        )
        return .value((sealed, note))
    }

    /// The streams whose loss closes the evidence: of all that it names, new ones reserved, or one
    /// that is for it alone.
    private func streams(
        of submission: Submission,
        _ events: [NumberedEvent]
    ) throws -> (streams: Set<UInt64>, note: EventDraft?) {
        var streams = Set(events.flatMap(\.streams))
        // The payload names its customers even where no event does, as of a known link.
        let customers = submission.links.flatMap { [$0.customer, $0.alias] }
        var unknown: Set<StreamName> = []
        for subject in submission.named + customers.map(Subject.customer) {
            let name = StreamName(subject, in: submission.environment)
            if let stream = try resolver.stream(of: name) {
                streams.insert(stream)
            } else {
                unknown.insert(name)
            }
        }
        let count = streams.count + unknown.count
        guard count <= SealedEvidence.streamLimit else {
            let key = CrowdedEvidence.key(of: submission, resolver.vault)
            let own = try resolver.reserveStream(of: key)
            return ([own], CrowdedEvidence.note(on: submission, naming: count))
        }
        for name in unknown { streams.insert(try resolver.reserveStream(of: name)) }
        return (streams, nil)
    }

    private func keyed(_ streams: Set<UInt64>) throws -> [(number: UInt64, keys: StreamKeys)] {
        try streams.sorted().map { number in
            // With a key less it would stay open when its owner goes.
            guard let keys = try resolver.keys(of: number) else {
                throw LedgerFault(
                    .contended,
                    "somebody whom it names was erased just now: try again"
                )
            }
            return (number: number, keys: keys)
        }
    }
}
