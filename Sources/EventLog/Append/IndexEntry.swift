/// What views and overlay keep of a record.
public struct IndexEntry: Sendable {
    /// Place in the log.
    public var sequence: UInt64
    /// The event's digest.
    public var signal: SignalDigest
    /// What kind of event.
    public var kind: UInt8
    /// The subject's stream and those that the facts name.
    public var streams: [UInt64]

    /// Makes an entry.
    public init(sequence: UInt64, signal: SignalDigest, kind: UInt8, streams: [UInt64]) {
        self.sequence = sequence
        self.signal = signal
        self.kind = kind
        self.streams = streams
    }
}
