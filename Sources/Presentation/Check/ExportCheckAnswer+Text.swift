package import LedgerAPI

extension ExportCheckAnswer {
    /// What checking an export found, for people: each fault, then the verdict.
    package var textLines: [String] {
        faults.map { fault in
            let place = [fault.file, fault.sequence.map { String($0) }].compactMap(\.self)
            return ([fault.kind.rawValue] + place).joined(separator: " ") + ": " + fault.detail
        } + [verdict]
    }

    private var verdict: String {
        guard isOK else { return "TAMPERED OR DAMAGED: \(faults.count) faults" }
        let signer = isKeyGiven ? "the key given" : key ?? "nobody"
        return "whole: \(records) records proven, signed by \(signer)"
    }
}
