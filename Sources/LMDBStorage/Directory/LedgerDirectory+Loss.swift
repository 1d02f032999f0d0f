public import EventLog
import FoundationEssentials

extension LedgerDirectory {
    /// What a salvage could not bring back, where it lost something beside records.
    static let lossName = "loss.json"

    /// What is known to be lost of a ledger; nil: nothing, or only records, whose gaps stand in the
    /// log.
    ///
    /// - Throws: `LedgerOpenFault.damaged` where the file cannot be read.
    public static func knownLoss(at path: String) throws -> KnownLoss? {
        guard let bytes = try DurableFile.read(path + "/" + lossName) else { return nil }
        guard let loss = try? JSONDecoder().decode(KnownLoss.self, from: Data(bytes)) else {
            throw LedgerOpenFault(.damaged, "its loss.json is not one")
        }
        return loss
    }

    static func note(_ loss: KnownLoss, at path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try DurableFile.replace(
            path + "/" + lossName,
            with: Array(try encoder.encode(loss)) + [0x0A]
        )
    }
}
