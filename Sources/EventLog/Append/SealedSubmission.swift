/// What a caller hands to the writer: sealed, with what it relied on.
///
/// A class, since it passes through several hands unchanged.
package final class SealedSubmission: Sendable {
    /// The records, which stand together or not at all (E2).
    package let records: [SealedRecord]
    /// Evidence or attachment, carried by the first record.
    package let attached: [UInt8]?
    /// The streams under whose keys the evidence is sealed, which no record needs to name.
    package let evidenceStreams: [UInt64]
    /// Parts of the evidence that are kept once, by the SHA-256 of their content.
    ///
    /// Those that the log holds already may be left out.
    package let sharedParts: [(digest: Digest, bytes: [UInt8])]
    /// The signal of a request that the last records stand for; nil where all are of one signal.
    ///
    /// If it is known already, the submission is decided again.
    package let request: SignalDigest?
    /// Whether its events are a request, under none of whose ids something else may stand (E1).
    package let isRequest: Bool
    /// What the caller read and decided by (E4).
    package let expectations: [Expectation]
    /// T3 to keep, for an import that preserves it; nil: the clock.
    package let recordedAt: Int64?
    /// How often reserved streams had been given up when it was decided (`NameVault`).
    package let surrenders: UInt64

    /// A stream as the caller saw it.
    package struct Expectation: Sendable, Hashable {
        /// The stream.
        package var stream: UInt64
        /// The sequence of its last record; nil: it had none.
        package var lastSequence: UInt64?

        /// Makes an expectation.
        package init(stream: UInt64, lastSequence: UInt64?) {
            self.stream = stream
            self.lastSequence = lastSequence
        }
    }

    /// Makes a submission of at least one record.
    package init(
        records: [SealedRecord],
        attached: [UInt8]? = nil,
        evidenceStreams: [UInt64] = [],
        sharedParts: [(digest: Digest, bytes: [UInt8])] = [],
        request: SignalDigest? = nil,
        isRequest: Bool = false,
        expectations: [Expectation] = [],
        recordedAt: Int64? = nil,
        surrenders: UInt64 = 0
    ) {
        precondition(!records.isEmpty, "a submission has a record")
        self.records = records
        self.attached = attached
        self.evidenceStreams = evidenceStreams
        self.sharedParts = sharedParts
        self.request = request
        self.isRequest = isRequest
        self.expectations = expectations
        self.recordedAt = recordedAt
        self.surrenders = surrenders
    }

    /// The same, decided when reserved streams had been given up so often.
    package func decided(afterSurrenders surrenders: UInt64) -> SealedSubmission {
        guard surrenders != self.surrenders else { return self }
        return SealedSubmission(
            records: records,
            attached: attached,
            evidenceStreams: evidenceStreams,
            sharedParts: sharedParts,
            request: request,
            isRequest: isRequest,
            expectations: expectations,
            recordedAt: recordedAt,
            surrenders: surrenders
        )
    }

    /// The signal that it is known by: its first record's.
    package var signal: SignalDigest { records[0].signal }

    /// The highest counter of a stream that its records name, or whose key its evidence needs.
    package var highestCounter: UInt64 {
        records.reduce(Self.highestCounter(of: evidenceStreams)) { highest, record in
            max(
                highest,
                StreamNumber.counter(of: record.stream),
                Self.highestCounter(of: record.others)
            )
        }
    }

    private static func highestCounter(of streams: [UInt64]) -> UInt64 {
        streams.reduce(0) { max($0, StreamNumber.counter(of: $1)) }
    }

    /// Whether one of these streams is named by it, or needed by its evidence.
    func names(oneOf streams: Set<UInt64>) -> Bool {
        evidenceStreams.contains(where: streams.contains)
            || records.contains {
                streams.contains($0.stream) || $0.others.contains(where: streams.contains)
            }
    }
}

/// What became of a submission.
package enum AppendOutcome: Sendable, Equatable {
    /// It stands in the log, durably (E3).
    case appended(first: UInt64, recordedAt: Int64)
    /// Its signal was recorded before, at this sequence (E1).
    case duplicate(of: UInt64)
    /// The id of a later event of the request is that of another one, at this sequence (E1).
    case idTaken(at: UInt64)
    /// What it relied on has changed: a stream moved on or was erased, or its request is known by now.
    /// Decide again.
    case stale
    /// The recorded time to keep lies before the log's last (T3).
    case recordedTimeBeforeLast
    /// The recorded time to keep lies after the clock (T3).
    case recordedTimeAfterClock
}

/// What the log holds by signal and by stream, up to its end.
package protocol LogIndex: Sendable {
    /// Where a signal was recorded; nil: never.
    func sequence(of signal: SignalDigest) throws -> UInt64?
    /// Where a stream's last record stands, under whatever of its names; nil: nowhere.
    func lastSequence(of stream: UInt64) throws -> UInt64?
}
