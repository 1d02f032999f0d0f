import Encodings
import Entitlements
import EventLog
import LedgerAPI

/// The evidence of a prefix of the log, with the verdicts that rest on it.
struct RecordedEvidence {
    private let questions: Questions
    private let environment: StoreEnvironment
    private let size: UInt64

    /// A payload that was judged.
    struct Judged {
        var outcome: VerifiedEvidence.Outcome
        /// Why it failed; nil: it did not.
        var code: String?
        /// The purchases that its events are about, by name.
        var purchases: [String] = []
        /// Its events that passed a verification.
        fileprivate var verdicts: [RecordedEvent] = []
    }

    /// Events that are looked through at a time.
    private static let batchSize: UInt64 = 4096

    init(_ questions: Questions, _ environment: StoreEnvironment, below size: UInt64) {
        self.questions = questions
        self.environment = environment
        self.size = size
    }

    /// Hands out the first event of each signal whose evidence was kept, ascending.
    ///
    /// `customer`: nil: everybody.
    func forEach(of customer: CustomerID?, _ body: (_ first: UInt64) throws -> Void) throws {
        var filter = EventFilter(sequences: 0..<size)
        filter.environment = environment
        filter.customer = customer
        guard customer == nil else {
            var firsts: Set<UInt64> = []
            try questions.headers(filter) { header in
                if header.attached == .evidence { firsts.insert(header.attachedAt) }
            }
            return try firsts.sorted().forEach(body)
        }
        var start: UInt64 = 0
        while start < size {
            let end = min(start + Self.batchSize, size)
            filter.sequences = start..<end
            var firsts: [UInt64] = []
            try questions.headers(filter) { header in
                guard header.attached == .evidence, header.attachedAt == header.sequence else {
                    return
                }
                firsts.append(header.sequence)
            }
            try firsts.forEach(body)
            start = end
        }
    }

    /// Judges the payload of a signal by its first event.
    func judged(_ first: UInt64, _ verify: AuditReplay.Verify) throws -> Judged {
        guard let evidence = try questions.evidence(of: first),
            let event = try questions.event(at: first)
        else { return Judged(outcome: .erased) }
        switch verify(evidence, event.event, event.recordedAt) {
        case .verified: return try judged(first, .verified)
        case .unsigned: return try judged(first, .unsigned)
        case .unchecked: return try judged(first, .unchecked)
        case .refused(let code): return try judged(first, .failed, code)
        }
    }

    private func judged(
        _ first: UInt64,
        _ outcome: VerifiedEvidence.Outcome,
        _ code: String? = nil
    ) throws -> Judged {
        var judged = Judged(outcome: outcome, code: code)
        var names: Set<Name> = []
        for event in try events(ofSignalAt: first) {
            guard case .purchase(let name) = event.event.subject else { continue }
            names.insert(Name(name.description))
            if event.event.kind == .verificationPassed { judged.verdicts.append(event) }
        }
        judged.purchases = names.texts
        return judged
    }

    /// The events that were read from one payload, which stand one after the other (E2).
    private func events(ofSignalAt first: UInt64) throws -> [RecordedEvent] {
        var sequences: [UInt64] = []
        try questions.log.scan(from: first, upTo: size) { header, _ in
            guard header.attached == .evidence, header.attachedAt == first else { return false }
            sequences.append(header.sequence)
            return true
        }
        return try sequences.compactMap { try questions.event(at: $0) }
    }

    // MARK: What rests on it

    /// The verdicts of a payload that failed which nothing else bears out.
    func lapsed(_ judged: Judged, _ verify: AuditReplay.Verify) throws -> [LapsedVerdict] {
        try judged.verdicts.compactMap { recorded in
            let event = recorded.event
            guard let code = judged.code, case .purchase(let purchase) = event.subject,
                let method = event.data.text(.method),
                try !isBorneOut(event, of: purchase, verify)
            else { return nil }
            return LapsedVerdict(
                purchase: purchase,
                transactionID: event.data.text(.transactionID),
                method: method,
                code: code,
                sequence: recorded.sequence
            )
        }
    }

    /// Whether a verdict on the same period rests on something that did not fail.
    ///
    /// Cost: the purchase's events, and judging the evidence of those verdicts.
    private func isBorneOut(
        _ verdict: Event,
        of purchase: PurchaseName,
        _ verify: AuditReplay.Verify
    ) throws -> Bool {
        var filter = EventFilter(sequences: 0..<size)
        filter.environment = environment
        filter.purchase = purchase
        filter.kind = .verificationPassed
        var others: [RecordHeader] = []
        try questions.headers(filter) { others.append($0) }
        let transaction = verdict.data.text(.transactionID)
        var failed: Set<UInt64> = []
        for header in others {
            guard let other = try questions.event(at: header.sequence)?.event else { return true }
            let named = other.data.text(.transactionID)
            if let transaction, let named, !named.isSame(as: transaction) { continue }
            // Somebody's word, or what its channel vouched for, has no evidence to fail.
            guard header.attached == .evidence else { return true }
            if failed.contains(header.attachedAt) { continue }
            guard case .failed = try judged(header.attachedAt, verify).outcome else { return true }
            failed.insert(header.attachedAt)
        }
        return false
    }
}
