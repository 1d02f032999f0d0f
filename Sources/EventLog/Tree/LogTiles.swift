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
