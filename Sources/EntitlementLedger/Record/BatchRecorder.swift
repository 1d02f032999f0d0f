import Dispatch
import Entitlements
import EventLog
import Synchronization

/// Records submissions in order; those that decide nothing are sealed on all cores and share
/// commits.
struct BatchRecorder {
    private let ledger: Ledger
    private let sealer: SubmissionSealer
    private let stopsAtRefusal: Bool
    private var receipts: [Receipt?] = []
    private var waiting: [Member] = []
    private var waitingIDs: Set<SubmissionID> = []
    /// The recorded time that those that wait come to.
    private var waitingRecordedAt = Int64.min

    private struct Member {
        var index: Int
        var submission: Submission
        var recordedAt: Instant?
    }

    /// What a submission is known by (E1).
    private struct SubmissionID: Hashable {
        var id: String
        var source: String
        var environment: StoreEnvironment
    }

    enum Prepared {
        case settled(Receipt)
        case sealed(SealedSubmission)
    }

    /// Parts in which a batch is sealed at once.
    private static let sealingPartCount = 2
    /// Batches below this are not worth a second thread.
    private static let parallelThreshold = 64

    init(_ ledger: Ledger, stopsAtRefusal: Bool = false) {
        self.ledger = ledger
        self.stopsAtRefusal = stopsAtRefusal
        sealer = SubmissionSealer(ledger)
    }

    /// Whether a submission was refused and nothing behind it is to be recorded.
    private(set) var isStopped = false

    mutating func add(_ submission: Submission, recordedAt: Instant?) throws {
        let id = SubmissionID(
            id: submission.id,
            source: submission.source,
            environment: submission.environment
        )
        // A decision is made against what stands, a repeat is compared with it: those before it
        // are committed first. So is what may be refused: nobody behind it stands in its group.
        let isAlone = try submission.decides || mayBeRefused(recordedAt)
        if isAlone || waitingIDs.contains(id) { try commit() }
        guard !isStopped else { return }
        waitingIDs.insert(id)
        waitingRecordedAt = max(
            waitingRecordedAt,
            (recordedAt ?? ledger.clock()).milliseconds
        )
        waiting.append(
            Member(index: receipts.count, submission: submission, recordedAt: recordedAt)
        )
        receipts.append(nil)
        if isAlone { try commit() }
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
        var members = waiting
        waiting = []
        waitingIDs = []
        waitingRecordedAt = .min
        try ledger.decide { append in
            if !members.isEmpty && !isStopped { members = try commit(members, append) }
            return members.isEmpty || isStopped ? () : nil
        }
    }

    /// Seals and appends; returns those that have to be decided again.
    private mutating func commit(
        _ members: [Member],
        _ append: LogWriter.Append
    ) throws -> [Member] {
        var sealed: [(member: Member, sealed: SealedSubmission)] = []
        for (member, prepared) in zip(members, try prepare(members)) {
            switch prepared {
            case .sealed(let submission): sealed.append((member, submission))
            case .settled(let receipt):
                settle(member, receipt)
            }
            if isStopped { break }
        }
        guard !sealed.isEmpty else { return [] }
        var moved: [Member] = []
        let outcomes = try append(sealed.map(\.sealed))
        for ((member, sealed), outcome) in zip(sealed, outcomes) {
            if let receipt = try receipt(outcome, sealed, member.submission) {
                settle(member, receipt)
            } else {
                moved.append(member)
            }
        }
        return moved
    }

    private mutating func settle(_ member: Member, _ receipt: Receipt) {
        receipts[member.index] = receipt
        if case .refused = receipt, stopsAtRefusal { isStopped = true }
    }

    private func prepare(_ members: [Member]) throws -> [Prepared] {
        guard members.count >= Self.parallelThreshold else {
            return try members.map { try prepare($0.submission, recordedAt: $0.recordedAt) }
        }
        let size = (members.count + Self.sealingPartCount - 1) / Self.sealingPartCount
        let parts = Mutex<[Result<[Prepared], any Error>]>(
            Array(repeating: .success([]), count: Self.sealingPartCount)
        )
        DispatchQueue.concurrentPerform(iterations: Self.sealingPartCount) { part in
            let result = Result {
                try members.dropFirst(part * size).prefix(size).map {
                    try prepare($0.submission, recordedAt: $0.recordedAt)
                }
            }
            parts.withLock { $0[part] = result }
        }
        return try parts.withLock { try $0.flatMap { try $0.get() } }
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
                        submission,
                        events: submission.events,
                        expectations: [],
                        recordedAt: recordedAt
                    )
                )
            }
            let decision = try SignalDecision(
                submission,
                DecisionReader(ledger, submission.environment)
            )
            return .sealed(
                try sealer.seal(
                    submission,
                    events: decision.events,
                    expectations: decision.reader.expectations,
                    recordedAt: recordedAt
                )
            )
        } catch let refusal as Refusal {
            return .settled(.refused(refusal))
        }
    }

    /// C6: `customer.erased` is appended by erasure only.
    ///
    /// K10: catalogs are checked whole.
    static func refusal(of submission: Submission) -> Refusal? {
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
                        .invalidCatalog,
                        "data." + fault.path,
                        "\(fault.code.rawValue): \(fault.detail)"
                    )
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
        case .moved: nil
        case .recordedTimeBeforeLast:
            .refused(
                Refusal(.recordedTime, "recordedtime", "lies before the ledger's last event")
            )
        case .recordedTimeAfterClock:
            .refused(Refusal(.recordedTime, "recordedtime", "lies after the clock"))
        }
    }
}
