import LMDB

extension OpenLedgerDirectory {
    /// How full the map of a part is, and who reads it.
    package struct MapUse: Sendable {
        /// The part's folder.
        package var part: String
        /// Bytes of address space; it grows where it is full.
        package var byteCount: Int
        /// Bytes up to the last page that was ever used.
        package var usedByteCount: Int
        /// Reader slots taken in all processes, idle ones too.
        package var readers: Int
        /// Reader slots that exist.
        package var readerLimit: Int
        /// Commits since the oldest state that somebody looks at; 0: nobody looks.
        ///
        /// Pages that were freed since are not used again.
        package var oldestReaderCommits: Int

        fileprivate init?(_ part: String, _ statistics: LMDB.Environment.Statistics) {
            // One that is being opened anew tells nothing.
            guard statistics.mapSize > 0 else { return nil }
            self.part = part
            byteCount = statistics.mapSize
            // Fits: the pages of a map do.
            usedByteCount = (statistics.lastPageNumber + 1) * statistics.pageSize
            readers = statistics.readersInUse
            readerLimit = statistics.maximumReaders
            oldestReaderCommits = statistics.oldestReaderCommits
        }
    }

    /// The maps of log and vault as they are now.
    ///
    /// Cost: no read of either.
    package func maps() -> [MapUse] {
        [
            MapUse(LedgerDirectory.logName, log.statistics),
            MapUse(LedgerDirectory.vaultName, vault.environment.statistics),
        ]
        .compactMap(\.self)
    }
}
