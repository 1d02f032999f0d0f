package import EventLog

extension Prover {
    /// A tile as C2SP tlog-tiles serves it, if the newest checkpoint asks for it.
    ///
    /// Costs two small reads. A narrower partial tile is served too: an older checkpoint may ask for
    /// it.
    ///
    /// - Returns: nil where there is no such tile.
    /// - Throws: `LogStorageFault`.
    package func publishedTile(_ coordinate: TileCoordinate) throws -> [UInt8]? {
        guard try isPublished(coordinate) else { return nil }
        let count = coordinate.width * EventLog.Digest.byteCount
        let tile = try log.tile(level: coordinate.level, index: coordinate.index) ?? []
        guard tile.count >= count else {
            throw LogStorageFault(.damaged, "a tile is missing or too short")
        }
        return Array(tile.prefix(count))
    }

    /// Records as C2SP tlog-tiles serves them, each behind its length; see ``publishedTile(_:)``.
    package func publishedRecords(_ coordinate: TileCoordinate) throws -> [UInt8]? {
        guard try isPublished(coordinate) else { return nil }
        let first = coordinate.index * Bundle.recordCount
        var bytes: [UInt8] = []
        // What a salvage left in a lost record's place has that place here, too: as in an archive.
        try log.readRecords(Array(first..<first + UInt64(coordinate.width))) { _, record in
            bytes.append(UInt8(truncatingIfNeeded: record.count >> 8))
            bytes.append(UInt8(truncatingIfNeeded: record.count))
            bytes += record.copy()
        }
        return bytes
    }

    private func isPublished(_ coordinate: TileCoordinate) throws -> Bool {
        let size = try log.lastCheckpoint()?.size ?? 0
        let (level, index) = (coordinate.level, coordinate.index)
        return coordinate.width <= TileCoordinate.width(level: level, index: index, size: size)
    }
}
