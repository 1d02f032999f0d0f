import Entitlements
import EventLog

/// What a store was asked for: appended unless it says nothing new (row 6.3; Stores, rule 9).
///
/// What a store says is never decided: a fact that comes meanwhile makes nobody decide again, and one
/// that stands twice changes no answer.
struct FetchedProposal: Proposal, Sendable {
    let submission: Submission

    func signal(in pipeline: Pipeline) -> SignalDigest { pipeline.signal(of: submission) }

    func decision(
        in pipeline: Pipeline,
        as signal: SignalDigest,
        after earlier: UInt64?
    ) throws -> Decision<Receipt> {
        let size = try pipeline.questions.log.end().size
        if submission.refusal == nil, earlier == nil, try isKnown(to: pipeline) {
            return .unchanged(.known, at: size)
        }
        return try SubmissionProposal(submission: submission)
            .decision(in: pipeline, as: signal, after: earlier)
    }

    /// Whether each of its events and links says what stands already.
    private func isKnown(to pipeline: Pipeline) throws -> Bool {
        var reader = try DecisionReader(pipeline, submission.environment)
        guard try NewLinks(pipeline, reader.resolver).proposals(of: submission).isEmpty else {
            return false
        }
        for (subject, drafts) in Dictionary(grouping: submission.drafts, by: \.subject) {
            guard case .purchase(let purchase) = subject else { return false }
            let (stream, known) = try reader.facts(ofPurchase: purchase)
            let restated = try RestatedFacts(ofPurchase: stream, known, pipeline)
            if try restated.sequence(ofSame: drafts) == nil { return false }
        }
        return true
    }
}
