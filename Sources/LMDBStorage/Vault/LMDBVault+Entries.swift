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
    ///
    /// Who only reads looks at the log first: what is no longer new there was taken over before.
    func entry(of stream: UInt64, _ epochs: EpochKeys) throws -> VaultEntry?? {
        let new = try isReadOnly ? log.newStream(stream) : nil
        if let new, try VaultEntry.isTombstone(new.span, of: stream) { return .some(nil) }
        // What does not open there is looked up here.
        let opened = new.flatMap { try? VaultEntry(opening: $0.span, epochKeys: epochs) }
        if let opened, opened.stream == stream { return .some(opened) }
        return try entry(of: stream, epochs, isNew: new != nil)
    }

    private func entry(
        of stream: UInt64,
        _ epochs: EpochKeys,
        isNew: Bool
    ) throws -> VaultEntry?? {
        let found = try environment.read { transaction in
            try transaction.get(streams, Key(stream)) { value -> Standing in
                if try VaultEntry.isTombstone(value, of: stream) { return .tombstone }
                return try VaultEntry(opening: value, epochKeys: epochs).map(Standing.entry)
                    ?? .unopened
            }
        }
        switch found {
        case nil where isNew: return nil
        case .tombstone: return .some(nil)
        case .unopened: return nil
        // An orphan, too, has its entry.
        case .entry(let entry) where entry.stream == stream: return .some(entry)
        case .entry, nil:
            guard isGiven(stream) else { return .some(nil) }
            throw LogStorageFault(.damaged, "a stream is missing from the vault")
        }
    }

    /// The streams that are new in a log, ascending, each of them whole.
    static func checkedNewStreams(of log: LMDBLog) throws -> [UInt64] {
        try log.newStreams(from: 0).map { new in
            _ = try VaultEntry.checkedDigest(of: new.bytes.span, stream: new.stream)
            return new.stream
        }
    }

    /// Whether a stream of this number was made; the catalog's needs no entry.
    private func isGiven(_ stream: UInt64) -> Bool {
        let last = max(highestCounter, StreamNumber.counter(of: names.last))
        return stream != StreamNumber.catalog && StreamNumber.counter(of: stream) <= last
    }
}
