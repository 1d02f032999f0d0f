package import LedgerAPI

extension DoctorAnswer {
    /// What was found, for people: each with what to do beneath it, worst first.
    package var textLines: [String] {
        guard !findings.isEmpty else { return ["ok: nothing is wrong"] }
        return findings.flatMap { finding in
            let place = finding.place.map { " (\($0))" } ?? ""
            return [
                "\(finding.severity.rawValue): \(finding.what)\(place) [\(finding.code.rawValue)]",
                "  do: \(finding.remedy)",
            ]
        }
    }
}
