import EventLog
import LMDB

extension LMDBLog {
    /// Every part of evidence that is kept once, by its digest.
    ///
    /// Cost: one pass over few parts, certificate chains say.
    func sharedParts() throws -> [(digest: EventLog.Digest, bytes: [UInt8])] {
        try mappingFaults {
            try withEnvironment { opened in
                // Made by the first evidence.
                guard let table = try opened.environment.table(Self.sharedName, create: false)
                else { return [] }
                var parts: [(digest: EventLog.Digest, bytes: [UInt8])] = []
                try opened.environment.read { transaction in
                    try transaction.scan(table, from: nil) { key, value in
                        guard let digest = EventLog.Digest(exactly: key) else {
                            throw LogStorageFault(.damaged, "a shared part's key is no digest")
                        }
                        parts.append((digest, value.copy()))
                        return true
                    }
                }
                return parts
            }
        }
    }
}
