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
        if let refusal = submission.refusal { return .settled(.refused(refusal)) }
        if let earlier {
            guard submission.nature == .answer else { return .settled(.duplicate(of: earlier)) }
            let repeated = try RepeatedAnswer(submission, recordedAt: earlier, pipeline)
            guard let news = try repeated.news() else {
                return .unchanged(.duplicate(of: earlier), at: repeated.size)
            }
            return try sealed(news, as: nil, NewLinks(pipeline).drafts(of: news), pipeline)
        }
        let size = try pipeline.questions.log.end().size
        let links = try NewLinks(pipeline).drafts(of: submission)
        if links.isEmpty, try isKnown(to: pipeline) { return .unchanged(.known, at: size) }
        return try sealed(submission, as: signal, links, pipeline)
    }

    private func sealed(
        _ submission: Submission,
        as signal: SignalDigest?,
        _ links: [EventDraft],
        _ pipeline: Pipeline
    ) throws -> Decision<Receipt> {
        Decision(
            try pipeline.sealer.seal(
                submission,
                drafts: submission.drafts + links,
                signal: signal,
                recordedAt: nil
            )
        )
    }

    /// Whether each of its events says what stands already.
    private func isKnown(to pipeline: Pipeline) throws -> Bool {
        var reader = try DecisionReader(pipeline, submission.environment)
        for (subject, drafts) in Dictionary(grouping: submission.drafts, by: \.subject) {
            guard case .purchase(let purchase) = subject else { return false }
            let (stream, known) = try reader.facts(ofPurchase: purchase)
            let restated = try RestatedFacts(ofPurchase: stream, known, pipeline)
            if try restated.sequence(ofSame: drafts) == nil { return false }
        }
        return true
    }
}
