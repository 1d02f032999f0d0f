import DurableFiles
package import EventLog

extension LedgerDirectory {
    /// What is known to be lost of a ledger; nil: nothing, or only records, whose gaps stand in the
    /// log.
    ///
    /// - Throws: `LedgerOpenFault.damaged` where the file cannot be read.
    package static func knownLoss(at path: String) throws -> KnownLoss? {
        guard let bytes = try DurableFile.read(path + "/" + KnownLoss.fileName) else { return nil }
        guard let loss = KnownLoss(reading: bytes) else {
            throw LedgerOpenFault(.damaged, "its loss.json is not one")
        }
        return loss
    }

    static func note(_ loss: KnownLoss, at path: String) throws {
        try DurableFile.replace(path + "/" + KnownLoss.fileName, with: loss.bytes)
    }
}
