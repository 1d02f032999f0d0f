/// A log of a machine in a cluster: appended to by way of the cluster's journals, read from the machine's own
/// files.
package protocol OwnFilesLog: LogStorage {
    /// The log in the machine's own files.
    var own: any LogStorage { get }
}

extension OwnFilesLog {
    /// See `LogReader`.
    package func end() throws -> LogEnd { try own.end() }

    /// See `LogReader`.
    package func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (_ first: UInt64, _ block: Span<UInt8>) throws -> Bool
    ) throws { try own.readBlocks(from: first, upTo: end, body) }

    /// See `LogReader`.
    package func readRecords(
        _ sequences: [UInt64],
        _ body: (_ sequence: UInt64, Span<UInt8>) throws -> Void
    ) throws { try own.readRecords(sequences, body) }

    /// See `LogReader`.
    package func attached(at sequence: UInt64) throws -> [UInt8]? {
        try own.attached(at: sequence)
    }

    /// See `LogReader`.
    package func readAttached(
        from first: UInt64,
        _ body: (_ sequence: UInt64, Span<UInt8>) throws -> Bool
    ) throws { try own.readAttached(from: first, body) }

    /// See `LogReader`.
    package func sharedPart(_ digest: Digest) throws -> [UInt8]? { try own.sharedPart(digest) }

    /// See `LogReader`.
    package func checkpoints() throws -> [(size: UInt64, note: String)] { try own.checkpoints() }

    /// See `LogReader`.
    package func lastCheckpoint() throws -> (size: UInt64, note: String)? {
        try own.lastCheckpoint()
    }

    /// See `LogReader`.
    package func newStreams(from first: UInt64) throws -> [NewStream] {
        try own.newStreams(from: first)
    }

    /// See `LogReader`.
    package func awaitTakeOver() throws { try own.awaitTakeOver() }

    /// See `TileSource`.
    package func tile(level: Int, index: UInt64) throws -> [UInt8]? {
        try own.tile(level: level, index: index)
    }

    /// See `LogStorage`.
    package func tookOver(upTo stream: UInt64) { own.tookOver(upTo: stream) }

    /// See `LogStorage`.
    package func removeTakenOver() throws { try own.removeTakenOver() }
}
