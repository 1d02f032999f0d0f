import Entitlements
import LedgerAPI

extension EvidenceReplay {
    /// More are counted, not listed.
    static let listLimit = 1000

    /// Counts a payload by what became of it.
    mutating func add(_ verdict: EvidenceVerdict, _ sequence: UInt64) {
        switch verdict {
        case .verified: verified += 1
        case .unsigned: unsigned += 1
        case .unchecked: unchecked += 1
        case .refused(let code):
            refused += 1
            if refusals.count < Self.listLimit {
                refusals.append(Refusal(sequence: sequence, code: code))
            }
        }
    }
}
