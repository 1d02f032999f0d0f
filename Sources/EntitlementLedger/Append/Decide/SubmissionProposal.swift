import Encodings
import Entitlements
import EventLog

/// A submission as its source hands it in.
///
/// What a store says is never decided: but for its id, and for links that are known, it relies on
/// nothing that the log holds (Storage, "Append"; E4).
struct SubmissionProposal: Proposal, Sendable {
    let submission: Submission
    /// The time to keep (T3); nil: the clock's.
    var recordedAt: Instant?
    /// What is handed in with it, whose links it need not repeat; nil: it is alone.
    var batch: BatchLinks?

    func signal(in pipeline: Pipeline) -> SignalDigest { pipeline.signal(of: submission) }

    func decision(
        in pipeline: Pipeline,
        as signal: SignalDigest,
        after earlier: UInt64?
    ) throws -> Decision<Receipt> {
        if let refusal = submission.refusal { return .settled(.refused(refusal)) }
        if let earlier { return try repeated(at: earlier, pipeline) }
        return try sealed(submission, as: signal, pipeline)
    }

    private func sealed(
        _ submission: Submission,
        as signal: SignalDigest?,
        _ pipeline: Pipeline
    ) throws -> Decision<Receipt> {
        let resolver = StreamResolver(pipeline.vault)
        let new = submission.links.isEmpty ? nil : NewLinks(pipeline, resolver, besides: batch)
        let links = try new?.proposals(of: submission) ?? []
        let decided = try pipeline.sealer.seal(
            submission,
            drafts: links.isEmpty
                ? submission.drafts : submission.drafts + links.map(EventDraft.init),
            signal: signal,
            recordedAt: recordedAt,
            resolver: resolver
        )
        if case .value(let sealed) = decided, submission.nature != .request || new != nil,
            // The links of a repeat are not recorded.
            batch?.add(sealed.signal) ?? true
        {
            try new?.noteSealed(links, in: submission.environment)
        }
        return Decision(decided)
    }

    /// E1: a known signal has its first outcome; other content of a request is a conflict.
    private func repeated(
        at sequence: UInt64,
        _ pipeline: Pipeline
    ) throws -> Decision<Receipt> {
        switch submission.nature {
        case .signal: return .settled(.duplicate(of: sequence))
        case .answer:
            let repeated = try RepeatedAnswer(submission, recordedAt: sequence, pipeline)
            guard let news = try repeated.news() else {
                return .unchanged(.duplicate(of: sequence), at: repeated.size)
            }
            return try sealed(news, as: nil, pipeline)
        case .request:
            return .settled(
                try pipeline.repeated(at: sequence) { _ in submission.drafts[0] }
            )
        }
    }
}

extension Submission {
    /// Why nothing of it may be recorded, whatever the log holds; nil: something may.
    ///
    /// C6: `customer.erased` is appended by erasure only. K10: catalogs are checked whole.
    var refusal: Refusal? {
        // Lent where they stand: to copy a draft costs more than to look at it.
        let drafts = drafts.span
        for index in drafts.indices {
            if drafts[index].kind.isLedgerOnly {
                return Refusal(.notPermitted, "type", "only an erasure records it")
            }
            if let document = drafts[index].data.document {
                do {
                    _ = try Catalog(document: document)
                } catch {
                    return Refusal(
                        .invalidCatalog,
                        "data." + error.path,
                        "\(error.code.rawValue): \(error.detail)"
                    )
                }
            }
        }
        return nil
    }
}

extension JSONValue {
    /// A catalog document as it was handed in, without what publish resolved (K10).
    var withoutTimeZones: JSONValue {
        JSONValue.object((members ?? []).filter { $0.name != "timeZones" }).inOrder
    }

    /// The same with the members of each object in the order of their names, which says nothing.
    private var inOrder: JSONValue {
        switch self {
        case .object(let members):
            .object(
                members.map { JSONMember($0.name, $0.value.inOrder) }
                    .sorted { $0.name.precedes($1.name) }
            )
        case .array(let elements): .array(elements.map(\.inOrder))
        default: self
        }
    }
}
