import Encodings
package import Entitlements
import EventLog

/// A submission on its way into the log: everything is done that does not depend on its place.
///
/// Deciding and sealing is most of the work of recording, and threads may share it; the rest is done
/// in order.
///
/// A class, since an import hands it on from batch to batch.
package final class DecidedSubmission: Sendable {
    let proposal: SubmissionProposal
    let decision: Decision<Receipt>

    init(_ proposal: SubmissionProposal, _ decision: Decision<Receipt>) {
        (self.proposal, self.decision) = (proposal, decision)
    }

    /// Why nothing of it will be recorded, if that is known already.
    var refusal: Refusal? {
        guard case .settled(.refused(let refusal)) = decision else { return nil }
        return refusal
    }
}

extension Appender {
    /// Does what can be done before the submission's turn comes; several threads may.
    ///
    /// `recordedAt`: the time to keep (T3); nil: the clock's. `batch`: what is handed in with it; nil:
    /// it is alone.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    package func decide(
        _ submission: Submission,
        recordedAt: Instant?,
        in batch: BatchLinks?
    ) throws -> DecidedSubmission {
        var proposal = SubmissionProposal(
            submission: submission,
            recordedAt: recordedAt,
            batch: batch
        )
        let decision = try pipeline.decision(of: proposal)
        // Made anew, it is alone: the batch holds its own links.
        proposal.batch = nil
        return DecidedSubmission(proposal, decision)
    }
}

extension Appender {
    /// Those of a batch that was decided while an earlier one was on its way into the log, as they are
    /// to be recorded behind it: where that links a name otherwise by which links were left out, all
    /// that propose links are decided anew (C2).
    package func decided(
        _ submissions: [DecidedSubmission],
        with links: BatchLinks,
        behind earlier: BatchLinks?
    ) throws -> [DecidedSubmission] {
        guard let earlier, links.isOvertaken(by: earlier) else { return submissions }
        let linking = submissions.filter { !$0.proposal.submission.links.isEmpty }
        links.forget(linking.compactMap { $0.decision.submission?.signal })
        return try submissions.map { decided in
            let proposal = decided.proposal
            guard !proposal.submission.links.isEmpty else { return decided }
            // Into the same: whoever is decided beside it is held against it.
            return try decide(proposal.submission, recordedAt: proposal.recordedAt, in: links)
        }
    }
}

extension Questions {
    /// Whether a repeated signal says something else than what was recorded under its id, as far as
    /// its payload can be read still (E1).
    ///
    /// Events and requests are never told so: with other content they are refused.
    ///
    /// `sequence`: the signal's first event. Cost: the evidence, opened.
    package func tells(
        _ repeated: DecidedSubmission,
        otherThan sequence: UInt64
    ) throws -> Bool {
        let submission = repeated.proposal.submission
        guard submission.nature == .signal, let payload = submission.evidence,
            let recorded = try evidence(of: sequence), recorded != payload
        else { return false }
        // What is no JSON is compared by its bytes; else how it is laid out does not matter.
        guard let new = try? JSONValue(parsingStoreText: payload),
            let old = try? JSONValue(parsingStoreText: recorded)
        else { return true }
        return new != old
    }
}
