public import Encodings

/// A fact that the ledger learned of well after it held.
public struct LateFact: Sendable, Hashable {
    /// The event's place in the log.
    public var sequence: UInt64
    /// From its effective time (T1) to its recorded one (T3), in milliseconds.
    public var delayMilliseconds: Int64

    /// What is learned later than this after it held is late: stores tell of most things within
    /// minutes, and try again for some days.
    public static let threshold: Int64 = Instant.millisecondsPerDay

    /// Reads an event of an answer (CloudEvents form); nil: it came in time, or is no event.
    public init?(_ event: JSONValue) {
        guard let sequence = event["sequence"]?.string.flatMap({ UInt64($0) }),
            let time = event["time"]?.string.flatMap({ Instant(rfc3339: $0) }),
            let recordedAt = event["recordedtime"]?.string.flatMap({ Instant(rfc3339: $0) })
        else { return nil }
        let (delay, overflow) = recordedAt.milliseconds
            .subtractingReportingOverflow(time.milliseconds)
        guard !overflow, delay > Self.threshold else { return nil }
        self.sequence = sequence
        delayMilliseconds = delay
    }

    /// The fact as `timeline` lists it.
    public var json: JSONValue {
        .members([
            "sequence": .integer(sequence), "seconds": .integer(delayMilliseconds / 1000),
        ])
    }
}
