import Encodings
public import Entitlements
import EventLog

/// A submission on its way into the log: everything is done that does not depend on its place.
///
/// Preparing (keys, sealing) is most of the work of recording, and threads may share it; the rest
/// is done in order.
public struct PreparedSubmission: Sendable {
    let submission: Submission
    let recordedAt: Instant?
    let state: State

    enum State: Sendable {
        /// Nothing is to be appended.
        case settled(Receipt)
        /// The writer may take it.
        case sealed(SealedSubmission)
    }
}

extension Appender {
    /// Does what can be done before the submission's turn comes; several threads may.
    ///
    /// `recordedAt`: the time to keep (T3); nil: the clock's.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    public func prepare(
        _ submission: Submission,
        recordedAt: Instant? = nil
    ) throws -> PreparedSubmission {
        try prepare(submission, recordedAt: recordedAt, in: nil)
    }

    /// Prepares a submission of a batch, in the batch's order.
    package func prepare(
        _ submission: Submission,
        recordedAt: Instant?,
        in batch: BatchLinks?
    ) throws -> PreparedSubmission {
        PreparedSubmission(
            submission: submission,
            recordedAt: recordedAt,
            state: try Preparation(self).seal(submission, recordedAt: recordedAt, in: batch)
        )
    }
}

/// Seals submissions, and says what became of them.
struct Preparation {
    private let appender: Appender
    private let sealer: SubmissionSealer

    init(_ appender: Appender) {
        self.appender = appender
        sealer = SubmissionSealer(appender)
    }

    /// Looks the signal up and seals.
    ///
    /// `batch`: what is handed in with it; nil: it is alone.
    func seal(
        _ submission: Submission,
        recordedAt: Instant?,
        in batch: BatchLinks? = nil
    ) throws -> PreparedSubmission.State {
        if let refusal = Self.refusal(of: submission) { return .settled(.refused(refusal)) }
        let signal = appender.vault.digestSecret.signal(
            environment: submission.environment.rawValue,
            source: submission.source,
            id: submission.id
        )
        if let known = try appender.questions.views.sequence(of: signal) {
            return .settled(try repeated(submission, known))
        }
        let decided = try sealer.seal(
            submission,
            drafts: submission.drafts + NewLinks(appender, besides: batch).drafts(of: submission),
            signal: signal,
            expectations: [],
            recordedAt: recordedAt
        )
        switch decided {
        case .value(let sealed):
            batch?.add(submission)
            return .sealed(sealed)
        case .refused(let refusal): return .settled(.refused(refusal))
        }
    }

    /// C6: `customer.erased` is appended by erasure only.
    ///
    /// K10: catalogs are checked whole.
    static func refusal(of submission: Submission) -> Refusal? {
        for draft in submission.drafts {
            if draft.kind.isLedgerOnly {
                return Refusal(.notPermitted, "type", "only an erasure records it")
            }
            if let document = draft.data.document {
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

    /// E1: a known signal has its first outcome; other content of a request is a conflict.
    private func repeated(_ submission: Submission, _ sequence: UInt64) throws -> Receipt {
        guard submission.nature == .request else { return .duplicate(of: sequence) }
        let opener = EventOpener(vault: appender.vault, log: appender.questions.log)
        var known: RecordedEvent?
        try appender.questions.log.readRecords([sequence]) { known = try opener.open($1).recorded }
        guard let known else { return .duplicate(of: sequence) }
        let differing = submission.drafts[0].differences(from: known.event.draft)
        if differing.isEmpty { return .duplicate(of: sequence) }
        return .refused(
            Refusal(
                .conflict,
                differing.joined(separator: ", "),
                "event \(sequence) has this id and other content"
            )
        )
    }

    /// The receipt of an outcome; nil: decide again.
    func receipt(
        _ outcome: AppendOutcome,
        _ sealed: SealedSubmission,
        _ submission: Submission
    ) throws -> Receipt? {
        switch outcome {
        case .appended(let first, _):
            .appended(first: first, count: sealed.records.count)
        case .duplicate(let sequence): try repeated(submission, sequence)
        case .stale: nil
        case .recordedTimeBeforeLast:
            .refused(
                Refusal(.recordedTime, "recordedtime", "lies before the ledger's last event")
            )
        case .recordedTimeAfterClock:
            .refused(Refusal(.recordedTime, "recordedtime", "lies after the clock"))
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
        _ repeated: PreparedSubmission,
        otherThan sequence: UInt64
    ) throws -> Bool {
        guard repeated.submission.nature == .signal, let payload = repeated.submission.evidence,
            let recorded = try evidence(of: sequence), recorded != payload
        else { return false }
        // What is no JSON is compared by its bytes; else how it is laid out does not matter.
        guard let new = try? JSONValue(parsingStoreText: payload),
            let old = try? JSONValue(parsingStoreText: recorded)
        else { return true }
        return new != old
    }
}
