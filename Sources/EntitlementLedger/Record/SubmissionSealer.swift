import Entitlements
import EventLog

/// Turns a submission whose decisions are made into one that the writer takes.
struct SubmissionSealer {
    let vault: any Vault
    let randomness: RandomSource

    /// Numbers the events and seals them with their evidence or attachment.
    ///
    /// `events`: at least one, in order; their ids become `id`, `id#2`, `id#3`, …
    ///
    /// - Throws: `Refusal` where a limit is passed.
    func seal(
        _ submission: Submission,
        events: [Event],
        expectations: [SealedSubmission.Expectation],
        recordedAt: Instant?
    ) throws -> SealedSubmission {
        var sealer = EventSealer(vault: vault, randomness: randomness)
        let numbered = events.enumerated().map { index, event in
            var event = event
            event.id = index == 0 ? submission.id : "\(submission.id)#\(index + 1)"
            event.source = submission.source
            event.environment = submission.environment
            return event
        }
        let blob = try companion(of: submission, numbered, sealer)
        let companion = blob.map {
            EventSealer.Companion(kind: $0.kind, digest: TreeHash.companion($0.bytes.span))
        }
        do {
            let records = try numbered.map { try sealer.seal($0, companion: companion) }
            return SealedSubmission(
                records: records,
                companion: blob?.bytes,
                expectations: expectations,
                recordedAt: recordedAt?.milliseconds
            )
        } catch RecordFault.tooLong {
            throw Refusal(
                .tooLarge,
                "data",
                "an event has at most \(RecordHeader.lengthLimit) bytes"
            )
        }
    }

    private func companion(
        of submission: Submission,
        _ events: [Event],
        _ sealer: EventSealer
    ) throws -> (kind: RecordHeader.Companion, bytes: [UInt8])? {
        if let document = events.first?.data.document {
            let bytes = Attachment.bytes(of: document)
            guard bytes.count <= Attachment.byteLimit else {
                throw Refusal(
                    .tooLarge,
                    "data",
                    "a catalog has at most \(Attachment.byteLimit) bytes"
                )
            }
            return (.attachment, bytes)
        }
        guard let evidence = submission.evidence else { return nil }
        guard evidence.count <= EvidenceBlob.byteLimit else {
            throw Refusal(
                .tooLarge,
                "",
                "evidence has at most \(EvidenceBlob.byteLimit) bytes"
            )
        }
        return (.evidence, try seal(evidence, events, submission, sealer))
    }

    /// Evidence is sealed under the keys of all streams that its events name.
    private func seal(
        _ evidence: [UInt8],
        _ events: [Event],
        _ submission: Submission,
        _ sealer: EventSealer
    ) throws -> [UInt8] {
        var streams: Set<UInt64> = []
        for event in events {
            let (subject, others) = try sealer.streams(of: event)
            streams.insert(subject)
            for stream in others.values.joined() { streams.insert(stream) }
        }
        // The payload names its customers even where no event does (a refused claim, a known link).
        let named =
            submission.claims.map(\.customer)
            + submission.links.flatMap { [$0.customer, $0.alias] }
        for customer in named {
            let name = StreamName(
                environment: submission.environment.rawValue,
                subject: Subject.customer(customer).description
            )
            streams.insert(try vault.reserveStream(of: name))
        }
        let keyed = try streams.sorted().prefix(EvidenceBlob.streamLimit).compactMap { number in
            try vault.keys(of: number).map { (number: number, keys: $0) }
        }
        var randomness = randomness
        let frame = Zstandard.compress(evidence)
        return try EvidenceBlob.seal(
            frame ?? evidence,
            encoding: frame == nil ? .plain : .zstd,
            streams: keyed,
            nonce: SealingNonce(using: &randomness)
        )
    }
}
