import EventLog
import LMDB

extension LMDBVault {
    /// What stands in the table at a stream's number.
    private enum Standing {
        case entry(VaultEntry)
        case tombstone
        /// An entry of another generation of epoch keys, or a damaged one.
        case unopened
    }

    /// The entry of a stream, `.some(nil)` for one that is erased or was never given; nil: these epoch
    /// keys do not open it.
    func entry(
        of stream: UInt64,
        _ epochs: EpochKeys,
        _ transaction: borrowing ReadTransaction
    ) throws -> VaultEntry?? {
        let found = try transaction.get(streams, Key(stream)) { value -> Standing in
            if try VaultEntry.isTombstone(value, of: stream) { return .tombstone }
            return try VaultEntry(opening: value, epochKeys: epochs).map(Standing.entry)
                ?? .unopened
        }
        switch found {
        case .tombstone: return .some(nil)
        case .unopened: return nil
        // An orphan, too, has its entry.
        case .entry(let entry) where entry.stream == stream: return .some(entry)
        case .entry, nil:
            guard isGiven(stream) else { return .some(nil) }
            throw LogStorageFault(.damaged, "a stream is missing from the vault")
        }
    }

    /// Whether a stream of this number was made; the catalog's needs no entry.
    private func isGiven(_ stream: UInt64) -> Bool {
        let last = max(highestCounter, StreamNumber.counter(of: names.last))
        return stream != StreamNumber.catalog && StreamNumber.counter(of: stream) <= last
    }
}
