package import EntitlementLedger
import Foundation
package import LedgerAPI

extension StatusAnswer.DiskUse {
    /// What the files of a ledger's directory take, and what is free there.
    ///
    /// `auditor`: of the ledger that is open there. Cost: a look at each file. A part that is not there takes
    /// nothing.
    ///
    /// - Throws: what Foundation throws where the disk does not answer.
    package init(ofLedgerAt path: String, _ auditor: Auditor) throws {
        func bytes(_ part: String) -> Int64 {
            let place = path + "/" + part
            let files = FileManager.default.enumerator(atPath: place)?.allObjects ?? []
            return files.reduce(0) { sum, file in
                // A file may be gone since its name was read.
                let found = try? FileManager.default.attributesOfItem(atPath: "\(place)/\(file)")
                guard found?[.type] as? FileAttributeType == .typeRegular else { return sum }
                return sum + ((found?[.size] as? NSNumber)?.int64Value ?? 0)
            }
        }
        let system = try FileManager.default.attributesOfFileSystem(forPath: path)
        self.init(
            log: bytes("log"),
            vault: bytes("vault"),
            // A table that does not read is the audit's affair, and hides no other figure.
            identifiers: (try? auditor.identifiersByteCount()) ?? nil,
            views: bytes("views"),
            free: (system[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
        )
    }
}
