import Entitlements
import EventLog

/// Seals submissions whose decisions are made.
struct SubmissionSealer: Sendable {
    let vault: any Vault
    let randomness: RandomSource
    let sharedParts: SharedPartCache

    /// Makes events of a submission's drafts and seals them with their evidence or attachment.
    ///
    /// `drafts`: at least one, in order; nil: the submission's own.
    ///
    /// `request`: what stands or falls with them (E2): its drafts under its own id and without their
    /// evidence, from which they were not read.
    ///
    /// `signal`: the digest of the submission's id, where it is known. `expectations`: what its
    /// decision relied on (E4). `recordedAt`: the time to keep (T3); nil: the clock's. `resolver`: the
    /// decision's; nil: nothing was looked up for it.
    ///
    /// - Returns: refused where a limit is passed.
    func seal(
        _ submission: Submission,
        drafts: [EventDraft]? = nil,
        with request: Submission? = nil,
        signal: SignalDigest? = nil,
        expectations: [SealedSubmission.Expectation] = [],
        recordedAt: Instant? = nil,
        resolver: StreamResolver? = nil
    ) throws -> Decided<SealedSubmission> {
        let resolver = resolver ?? StreamResolver(vault)
        var events = try (drafts ?? submission.drafts).enumerated().map { place, draft in
            try resolver.numbered(
                submission.event(place, draft),
                signal: place == 0 ? signal : nil
            )
        }
        let attachment: Attachable?
        switch try attachable(of: submission, events, resolver) {
        case .refused(let refusal): return .refused(refusal)
        case .value(let bytes): attachment = bytes
        }
        if let note = attachment?.note {
            events.append(try resolver.numbered(submission.event(events.count, note)))
        }
        let attached = attachment.map {
            EventSealer.Attached(kind: $0.kind, digest: TreeHash.attached($0.bytes.span))
        }
        let requested = try request.map { request in
            try request.drafts.enumerated().map { place, draft in
                try resolver.numbered(request.event(place, draft))
            }
        }
        var sealer = EventSealer(resolver: resolver, randomness: randomness)
        var records: [SealedRecord] = []
        records.reserveCapacity(events.count + (requested?.count ?? 0))
        for event in events {
            guard let record = try sealer.seal(event, attached: attached) else {
                return .refused(Self.tooLong)
            }
            records.append(record)
        }
        for event in requested ?? [] {
            guard let record = try sealer.seal(event, attached: nil) else {
                return .refused(Self.tooLong)
            }
            records.append(record)
        }
        return .value(
            SealedSubmission(
                records: records,
                attached: attachment?.bytes,
                evidenceStreams: attachment?.streams ?? [],
                sharedParts: attachment?.sharedParts ?? [],
                request: requested?.first?.signal,
                isRequest: submission.nature == .request,
                expectations: expectations,
                recordedAt: recordedAt?.milliseconds
            )
        )
    }

    private static let tooLong = Refusal(
        .tooLarge,
        "data",
        "an event has at most \(RecordHeader.lengthLimit) bytes"
    )

    /// What is attached to a submission's records, before it has a place.
    private struct Attachable {
        var kind: RecordHeader.Attached
        var bytes: [UInt8]
        /// The streams whose keys it needs.
        var streams: [UInt64] = []
        /// The event by which an erasure finds it, where it needs one.
        var note: EventDraft?
        var sharedParts: [(digest: Digest, bytes: [UInt8])] = []
    }

    private func attachable(
        of submission: Submission,
        _ events: [NumberedEvent],
        _ resolver: StreamResolver
    ) throws -> Decided<Attachable?> {
        if let document = events.first?.data.document {
            let bytes = Attachment.bytes(of: document)
            guard bytes.count <= Attachment.byteLimit else {
                let detail = "a catalog has at most \(Attachment.byteLimit) bytes"
                return .refused(Refusal(.tooLarge, "data", detail))
            }
            return .value(Attachable(kind: .attachment, bytes: bytes))
        }
        guard let parts = submission.evidenceParts else { return .value(nil) }
        let evidence = EvidenceSealer(
            resolver: resolver,
            randomness: randomness,
            sharedParts: sharedParts
        )
        switch try evidence.seal(parts, of: submission, events) {
        case .refused(let refusal): return .refused(refusal)
        case .value(let (sealed, note)):
            return .value(
                Attachable(
                    kind: .evidence,
                    bytes: sealed.bytes,
                    streams: sealed.streams,
                    note: note,
                    sharedParts: sealed.sharedParts
                )
            )
        }
    }
}
