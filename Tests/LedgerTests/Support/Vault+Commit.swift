import EventLog

@testable import LMDBStorage

extension Vault {
    /// Makes reserved streams durable as an append does that needs them: by a commit of the log, here
    /// one without records.
    func commit(upTo counter: UInt64, with log: any LogStorage) throws {
        try commit(upTo: counter) { new in
            guard !new.isEmpty else { return }
            try log.add(new)
        }
    }
}

extension LogStorage {
    /// Appends a batch that carries new streams and no record.
    func add(_ new: [NewStream]) throws {
        var batch = LogBatch(after: try end())
        batch.newStreams = new
        _ = try append(batch)
    }
}

extension LMDBVault {
    /// Makes all reserved streams durable, in the vault's own files.
    func commitAll() throws {
        try commit(upTo: .max, with: log)
        try drawIn()
    }
}
