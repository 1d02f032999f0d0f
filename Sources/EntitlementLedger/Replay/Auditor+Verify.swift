package import Entitlements
import EventLog
package import LedgerAPI

extension Auditor {
    /// Judges recorded evidence again, by today's roots and revocations (row 7.5; Stores, rule 5).
    ///
    /// A verdict lapses where its evidence is refused and nothing else that holds says the same: other
    /// evidence, what its channel vouched for, or somebody's word. Evidence that nobody can judge, or
    /// that is erased, takes nothing from anybody.
    ///
    /// `customer`: nil: everybody. `recording`: whether each verdict that lapsed is recorded as
    /// `verification.failed`, once. `verify`: judges a payload.
    ///
    /// Cost: one pass over the log, or the customer's events; memory for a thousand payloads.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`; what was recorded until then stands.
    package func verifyEvidence(
        of customer: CustomerID? = nil,
        environment: StoreEnvironment,
        recording: Bool = false,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in },
        by verify: AuditReplay.Verify
    ) throws -> VerificationAnswer {
        let appender = recording ? try appending.whole : nil
        let size = try questions.size()
        let evidence = RecordedEvidence(questions, environment, below: size)
        var answer = VerificationAnswer(
            sequence: size,
            environment: environment,
            customer: customer?.text
        )
        try evidence.forEach(of: customer) { first in
            progress(first, size)
            let judged = try evidence.judged(first, verify)
            var item = VerifiedEvidence(
                sequence: first,
                purchases: judged.purchases,
                outcome: judged.outcome
            )
            if case .failed = judged.outcome {
                item.code = judged.code
                for verdict in try evidence.lapsed(judged, verify) {
                    item.lapsed += 1
                    guard let appender else { continue }
                    let receipt = try appender.record(verdict, environment)
                    if case .appended = receipt { answer.recorded += 1 }
                }
            }
            answer.add(item)
        }
        return answer
    }
}

extension Appender {
    /// Records that a verdict lapsed; `known` where the last verdict says so already.
    fileprivate func record(
        _ verdict: LapsedVerdict,
        _ environment: StoreEnvironment
    ) throws -> Receipt {
        try pipeline.record(
            LapsedVerdictProposal(verdict: verdict, environment: environment, askedAt: clock())
        )
    }
}

extension VerificationAnswer {
    /// More are counted, not listed.
    static let listLimit = 1000

    /// Counts a payload, and lists it: of everybody only those that failed.
    fileprivate mutating func add(_ item: VerifiedEvidence) {
        counts[item.outcome] += 1
        lapsed += item.lapsed
        guard customer != nil || item.outcome == .failed else { return }
        if evidence.count < Self.listLimit { evidence.append(item) } else { isWhole = false }
    }
}
