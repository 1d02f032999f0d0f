/// What views and overlay keep of a record.
package struct IndexEntry: Sendable {
    /// Place in the log.
    package var sequence: UInt64
    /// The event's digest.
    package var signal: SignalDigest
    /// What kind of event.
    package var kind: UInt8
    /// The subject's stream.
    package var stream: UInt64
    /// Those that the facts name: of most events none.
    package var others: [UInt64]

    /// Makes an entry.
    package init(
        sequence: UInt64,
        signal: SignalDigest,
        kind: UInt8,
        stream: UInt64,
        others: [UInt64]
    ) {
        self.sequence = sequence
        self.signal = signal
        self.kind = kind
        self.stream = stream
        self.others = others
    }

    /// The subject's stream and those that the facts name.
    package var streams: [UInt64] { [stream] + others }
}
