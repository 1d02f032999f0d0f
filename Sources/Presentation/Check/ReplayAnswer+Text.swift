package import LedgerAPI

extension ReplayAnswer {
    /// What a replay found, for people: differences, then evidence and tokens as far as asked for.
    package var textLines: [String] {
        var lines = differences
        lines.append(
            "\(events) events, \(customers) customers, "
                + "\(differences.count) differences, answers \(answersDigest)"
        )
        if let evidence {
            lines += evidence.refusals.map { "event \($0.sequence): its evidence is \($0.code)" }
            lines.append(
                "evidence: \(evidence.verified) verified, \(evidence.unsigned) of sources that "
                    + "sign nothing, \(evidence.unchecked) unchecked (no verifier is configured), "
                    + "\(evidence.erased) erased, \(evidence.refused) refused"
            )
        }
        if let tokens {
            lines += tokens.others.map { "token \($0.number): \($0.outcome.rawValue)" }
            let count = tokens.counts.values.reduce(0, +)
            lines.append("tokens: \(tokens.counts[.same] ?? 0) of \(count) the same")
        }
        return lines
    }
}

extension DriftAnswer {
    /// What a drift check found, for people: each difference, then the sum.
    package var textLines: [String] {
        differences.map { "\($0.kind.rawValue): customer \($0.stream): \($0.detail)" }
            + ["\(customers) customers folded again, \(differences.count) differences"]
    }
}
