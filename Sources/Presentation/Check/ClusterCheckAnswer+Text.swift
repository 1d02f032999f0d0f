package import LedgerAPI

extension ClusterCheckAnswer {
    /// What was found, for people: each with what to do beneath it.
    package var textLines: [String] {
        guard !findings.isEmpty else {
            return ["ok: what it acknowledges stands on two machines"]
        }
        return findings.flatMap { finding in
            let word = finding.isTolerated ? "tolerated" : "refused"
            return ["\(word): \(finding.what) [\(finding.code)]", "  do: \(finding.remedy)"]
        }
    }
}
