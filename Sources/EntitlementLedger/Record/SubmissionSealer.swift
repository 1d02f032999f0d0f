import Entitlements
import EventLog

/// Turns a submission whose decisions are made into one that the writer takes.
struct SubmissionSealer {
    private let appender: Appender

    init(_ appender: Appender) { self.appender = appender }

    /// Numbers the events and seals them with their evidence or attachment.
    ///
    /// `drafts`: at least one, in order.
    ///
    /// `request`: an event of another source that stands or falls with them (E2), under its own id
    /// and without their evidence, from which it was not read.
    ///
    /// `signal`: the digest of `id`, where it is known.
    ///
    /// - Returns: refused where a limit is passed.
    func seal(
        _ submission: Submission,
        drafts: [EventDraft],
        request: Event? = nil,
        signal: SignalDigest? = nil,
        expectations: [SealedSubmission.Expectation],
        recordedAt: Instant?
    ) throws -> Decided<SealedSubmission> {
        var numbered = drafts.enumerated().map { submission.event($0, $1) }
        let attachedBytes: AttachedBytes?
        switch try attached(of: submission, numbered) {
        case .refused(let refusal): return .refused(refusal)
        case .value(let bytes): attachedBytes = bytes
        }
        if let note = attachedBytes?.note {
            numbered.append(submission.event(numbered.count, note))
        }
        let attached = attachedBytes.map {
            EventSealer.Attached(kind: $0.kind, digest: TreeHash.attached($0.bytes.span))
        }
        var sealer = EventSealer(vault: appender.vault, randomness: appender.randomness)
        var records: [SealedRecord] = []
        records.reserveCapacity(numbered.count + 1)
        for event in numbered {
            let signal = records.isEmpty ? signal : nil
            guard let record = try sealer.seal(event, signal: signal, attached: attached) else {
                return .refused(Self.tooLong)
            }
            records.append(record)
        }
        var requested: SealedRecord?
        if let request {
            requested = try sealer.seal(request, attached: nil)
            guard let requested else { return .refused(Self.tooLong) }
            records.append(requested)
        }
        return .value(
            SealedSubmission(
                records: records,
                attached: attachedBytes?.bytes,
                evidenceStreams: attachedBytes?.streams ?? [],
                sharedParts: attachedBytes?.sharedParts ?? [],
                request: requested?.signal,
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

    private struct AttachedBytes {
        var kind: RecordHeader.Attached
        var bytes: [UInt8]
        /// The streams whose keys it needs.
        var streams: [UInt64] = []
        /// The event by which an erasure finds it, where it needs one.
        var note: EventDraft?
        var sharedParts: [(digest: Digest, bytes: [UInt8])] = []
    }

    private func attached(
        of submission: Submission,
        _ events: [Event]
    ) throws -> Decided<AttachedBytes?> {
        if let document = events.first?.data.document {
            let bytes = Attachment.bytes(of: document)
            guard bytes.count <= Attachment.byteLimit else {
                let detail = "a catalog has at most \(Attachment.byteLimit) bytes"
                return .refused(Refusal(.tooLarge, "data", detail))
            }
            return .value(AttachedBytes(kind: .attachment, bytes: bytes))
        }
        guard let parts = submission.evidenceParts else { return .value(nil) }
        let evidence = EvidenceSealer(
            vault: appender.vault,
            randomness: appender.randomness,
            sharedParts: appender.sharedParts
        )
        switch try evidence.seal(parts, of: submission, events) {
        case .refused(let refusal): return .refused(refusal)
        case .value(let (sealed, note)):
            return .value(
                AttachedBytes(
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
