public import Entitlements
import EventLog

extension Ledger {
    /// How often a decision that was overtaken is made again.
    static let decisionLimit = 32

    /// Records a submission: all of its events or none (E2), durably when this returns (E3).
    ///
    /// - Returns: what became of it; a refusal is a value.
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    public func record(_ submission: Submission) throws -> Receipt {
        try record([submission])[0]
    }

    /// Records submissions in their order, as few commits as their decisions allow.
    public func record(
        _ submissions: [Submission], recordedAt: [Instant?]? = nil
    ) throws -> [Receipt] {
        try requireWriter()
        var recorder = BatchRecorder(self)
        for (index, submission) in submissions.enumerated() {
            try recorder.add(submission, recordedAt: recordedAt?[index])
        }
        return try recorder.finish()
    }

    /// Records submissions in their order up to the first that is refused, whose receipt is the
    /// last; nothing behind it is recorded.
    public func recordUntilRefused(
        _ submissions: [Submission], recordedAt: [Instant?]? = nil
    ) throws -> [Receipt] {
        try requireWriter()
        var recorder = BatchRecorder(self)
        for (index, submission) in submissions.enumerated() {
            try recorder.add(submission, recordedAt: recordedAt?[index])
            if recorder.hasRefused { break }
        }
        return try recorder.finish()
    }

    /// Records one submission together with whoever else is waiting (group commit).
    public func record(concurrently submission: Submission) async throws -> Receipt {
        try requireWriter()
        let recorder = BatchRecorder(self)
        for _ in 0..<Self.decisionLimit {
            switch try recorder.prepare(submission, recordedAt: nil) {
            case .settled(let receipt): return receipt
            case .sealed(let sealed):
                let outcome = try await writer.append(sealed)
                if let receipt = try recorder.receipt(outcome, sealed, submission) {
                    return receipt
                }
            }
        }
        throw Self.contended
    }

    static let contended = LedgerFault(
        .contended, "others write about the same customer: try again")

    func requireWriter() throws {
        guard !isReadOnly else {
            throw LedgerFault(.readOnly, "the ledger was opened to be read")
        }
    }
}

/// Records submissions in order; those that decide nothing share commits.
struct BatchRecorder {
    private let ledger: Ledger
    private let sealer: SubmissionSealer
    private var receipts: [Receipt?] = []
    private var waiting: [(index: Int, submission: Submission, sealed: SealedSubmission)] = []
    /// Signals of those that wait.
    private var waitingSignals: Set<SignalDigest> = []
    /// The recorded time that those that wait come to.
    private var waitingRecordedAt = Int64.min

    /// Whether the last submission was refused.
    var hasRefused: Bool {
        if case .refused?? = receipts.last { return true }
        return false
    }

    enum Prepared {
        case settled(Receipt)
        case sealed(SealedSubmission)
    }

    init(_ ledger: Ledger) {
        self.ledger = ledger
        sealer = SubmissionSealer(vault: ledger.vault, randomness: ledger.randomness)
    }

    mutating func add(_ submission: Submission, recordedAt: Instant?) throws {
        let index = receipts.count
        receipts.append(nil)
        // A decision is made against what stands: those before it are committed first. So is what
        // may be refused: nobody behind it is to stand in its group.
        let isAlone = try submission.decides || mayBeRefused(recordedAt)
        if isAlone { try commit() }
        for _ in 0..<Ledger.decisionLimit {
            switch try prepare(submission, recordedAt: recordedAt) {
            case .settled(let receipt):
                receipts[index] = receipt
                return
            case .sealed(let sealed):
                if waitingSignals.contains(sealed.signal) {
                    try commit()
                    continue
                }
                waiting.append((index, submission, sealed))
                waitingSignals.insert(sealed.signal)
                waitingRecordedAt = max(
                    waitingRecordedAt, (recordedAt ?? ledger.clock()).milliseconds)
                if !isAlone { return }
                try commit()
                if receipts[index] != nil { return }
            }
        }
        throw Ledger.contended
    }

    /// Whether a recorded time to keep lies before the last or after the clock (T3).
    private func mayBeRefused(_ recordedAt: Instant?) throws -> Bool {
        guard let recordedAt else { return false }
        let last = try max(waitingRecordedAt, ledger.log.end().lastRecordedAt)
        return recordedAt.milliseconds < last || recordedAt > ledger.clock()
    }

    mutating func finish() throws -> [Receipt] {
        try commit()
        return receipts.compactMap { $0 }
    }

    private mutating func commit() throws {
        guard !waiting.isEmpty else { return }
        let group = waiting
        waiting = []
        waitingSignals = []
        waitingRecordedAt = .min
        let outcomes = try ledger.writer.append(group.map(\.sealed))
        for (member, outcome) in zip(group, outcomes) {
            receipts[member.index] = try receipt(outcome, member.sealed, member.submission)
        }
    }

    /// Looks the signal up, makes the decisions and seals.
    func prepare(_ submission: Submission, recordedAt: Instant?) throws -> Prepared {
        guard let first = submission.events.first else {
            preconditionFailure("a submission has an event")
        }
        if let refusal = Self.refusal(of: submission) { return .settled(.refused(refusal)) }
        var event = first
        event.id = submission.id
        event.source = submission.source
        event.environment = submission.environment
        let signal = EventSealer(vault: ledger.vault, randomness: ledger.randomness)
            .signal(of: event)
        if let known = try ledger.views.sequence(of: signal) {
            return .settled(try repeated(submission, known))
        }
        do {
            guard submission.decides else {
                return .sealed(
                    try sealer.seal(
                        submission, events: submission.events, expectations: [],
                        recordedAt: recordedAt))
            }
            let decision = try SignalDecision(submission, ledger)
            return .sealed(
                try sealer.seal(
                    submission, events: decision.events, expectations: decision.expectations,
                    recordedAt: recordedAt))
        } catch let refusal as Refusal {
            return .settled(.refused(refusal))
        }
    }

    /// C6: `customer.erased` is appended by erasure only. K10: catalogs are checked whole.
    private static func refusal(of submission: Submission) -> Refusal? {
        for event in submission.events {
            if event.kind == .customerErased {
                return Refusal(.notPermitted, "type", "only an erasure records it")
            }
            if let document = event.data.document {
                do {
                    _ = try Catalog(document: document)
                } catch {
                    let fault = error.faults[0]
                    return Refusal(
                        .invalidCatalog, "data." + fault.path,
                        "\(fault.code.rawValue): \(fault.detail)")
                }
            }
        }
        return nil
    }

    /// E1: a known signal has its first outcome; other content of a request is a conflict.
    private func repeated(_ submission: Submission, _ sequence: UInt64) throws -> Receipt {
        guard submission.nature == .request else { return .duplicate(of: sequence) }
        let opener = EventOpener(vault: ledger.vault, log: ledger.log)
        var known: RecordedEvent?
        try ledger.log.readRecords([sequence]) { known = try opener.open($1).recorded }
        guard let known else { return .duplicate(of: sequence) }
        let differing = submission.events[0].differences(from: known.event)
        if differing.isEmpty { return .duplicate(of: sequence) }
        return .refused(
            Refusal(
                .conflict, differing.joined(separator: ", "),
                "event \(sequence) has this id and other content"))
    }

    /// The receipt of an outcome; nil: decide again.
    func receipt(
        _ outcome: AppendOutcome, _ sealed: SealedSubmission, _ submission: Submission
    ) throws -> Receipt? {
        switch outcome {
        case .appended(let first, _):
            .appended(first: first, count: sealed.records.count)
        case .duplicate(let sequence): try repeated(submission, sequence)
        case .moved: nil
        case .recordedTimeBeforeLast:
            .refused(
                Refusal(.recordedTime, "recordedtime", "lies before the ledger's last event"))
        case .recordedTimeAfterClock:
            .refused(Refusal(.recordedTime, "recordedtime", "lies after the clock"))
        }
    }
}

extension Submission {
    /// Whether something is decided at append.
    var decides: Bool { !claims.isEmpty || !links.isEmpty }
}

extension Event {
    /// The attributes in which another event under the same id differs (E1), by their path.
    func differences(from known: Event) -> [String] {
        var differing: [String] = []
        if kind != known.kind { differing.append("type") }
        if subject != known.subject { differing.append("subject") }
        if time != known.time { differing.append("time") }
        if observedAt != known.observedAt { differing.append("data.observedAt") }
        if data.document?.withoutTimeZones != known.data.document?.withoutTimeZones {
            differing.append("data")
        }
        for field in Field.allCases where data[field] != known.data[field] {
            differing.append("data." + field.name)
        }
        return differing
    }
}

extension JSONValue {
    /// A catalog document as it was handed in, without what publish resolved (K10).
    var withoutTimeZones: JSONValue {
        .object((members ?? []).filter { $0.name != "timeZones" }
            .sorted { $0.name < $1.name })
    }
}
