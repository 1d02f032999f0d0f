import Entitlements
package import LedgerAPI

extension AccessAnswer {
    /// Yes or no, in a line: until when and why, or what would unlock it.
    package var textLine: String {
        if access.refusal == .usedUp {
            return "no: used up (\(CellText.limit(access.limit)))"
        }
        if access.isAllowed {
            let until = access.until.map { " until \($0)" } ?? ""
            return "yes\(until) (\(access.reason.rawValue))"
        }
        let sold = requiredProducts
        return sold.isEmpty
            ? "no: nothing that is sold unlocks it"
            : "no: nothing unlocks it; it comes with " + sold.joined(separator: ", ")
    }
}
