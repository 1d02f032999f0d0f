/// Lends the tiles of a log, whichever it is, to a tree reader.
package struct LogTiles: TileSource {
    private let log: any LogReader

    /// Lends a log's tiles.
    package init(_ log: any LogReader) { self.log = log }

    /// See `TileSource`.
    package func tile(level: Int, index: UInt64) throws -> [UInt8]? {
        try log.tile(level: level, index: index)
    }
}

extension LogReader {
    /// Whether the log begins with what a checkpoint was signed of.
    ///
    /// - Throws: what the log throws. Cost: a tile of each level.
    package func extends(_ checkpoint: Checkpoint) throws -> Bool {
        guard try checkpoint.size <= end().size else { return false }
        return try TreeReader(LogTiles(self)).root(size: checkpoint.size) == checkpoint.root
    }
}
