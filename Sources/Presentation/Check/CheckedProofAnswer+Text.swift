import Entitlements
package import LedgerAPI

extension CheckedProofAnswer {
    /// What a proof proves, for people, and who signed it.
    package var textLines: [String] {
        let log = "\(origin) at \(size) events"
        let proven =
            if let sequence {
                "event \(sequence)\(recordedAt.map { ", recorded at \($0)," } ?? "") stands in \(log)"
            } else {
                "\(log) extends \(oldSize ?? 0) events"
            }
        return ["proven: " + proven, "signed by " + signedBy.joined(separator: ", ")]
    }
}
