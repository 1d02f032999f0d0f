import Entitlements
import EventLog

/// Seals what a submission's events were read from, under the keys of all streams that they or the
/// payload name.
struct EvidenceSealer {
    let vault: any Vault
    let randomness: RandomSource
    let sharedParts: SharedPartShelf

    /// Evidence as it is handed to the writer.
    struct Sealed {
        var blob: [UInt8]
        /// The shared parts that the log does not hold yet.
        var sharedParts: [(digest: Digest, bytes: [UInt8])]
    }

    /// Seals evidence.
    ///
    /// `events`: those that were read from it.
    ///
    /// - Throws: `Refusal` where it is too large; what vault and log throw.
    func seal(
        _ parts: [EvidencePart],
        of submission: Submission,
        _ events: [Event]
    ) throws -> Sealed {
        guard parts.flattenedCount <= EvidenceBlob.byteLimit else {
            throw Refusal(
                .tooLarge,
                "",
                "evidence has at most \(EvidenceBlob.byteLimit) bytes"
            )
        }
        let list = EvidenceList(parts)
        let content = list?.content ?? parts.flattened
        let frame = Zstandard.compress(content)
        var randomness = randomness
        return Sealed(
            blob: try EvidenceBlob.seal(
                frame ?? content,
                encoding: .init(isInParts: list != nil, isCompressed: frame != nil),
                streams: keyed(streams(of: submission, events)),
                sharedParts: list?.sharedParts.map(\.digest) ?? [],
                nonce: SealingNonce(using: &randomness)
            ),
            sharedParts: try list.map { try sharedParts.missing($0.sharedParts) } ?? []
        )
    }

    private func streams(of submission: Submission, _ events: [Event]) throws -> Set<UInt64> {
        let sealer = EventSealer(vault: vault, randomness: randomness)
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
        return streams
    }

    private func keyed(_ streams: Set<UInt64>) throws -> [(number: UInt64, keys: StreamKeys)] {
        try streams.sorted().prefix(EvidenceBlob.streamLimit).compactMap { number in
            try vault.keys(of: number).map { (number: number, keys: $0) }
        }
    }
}
