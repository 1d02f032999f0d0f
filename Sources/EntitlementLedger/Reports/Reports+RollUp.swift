public import Entitlements
import EventLog
import PostingIndex

/// Where the roll-up is laid under what followed, and moved along.
extension Reports {
    /// Purchases that are counted anew for a question; where more are concerned, the log is read.
    private static let anewLimit = 20_000
    /// Purchases that were counted anew from which on the roll-up is moved along.
    private static let moveLimit = 500
    /// Events behind which a roll-up is made anew rather than moved along.
    private static let behindLimit: UInt64 = 200_000

    /// Revenue from the roll-up and what followed it; nil where it does not answer this.
    ///
    /// It answers for ranges of whole days, at a T that is not before the time that it was made at,
    /// as known then or later.
    func rolledUpRevenue(_ question: ReportQuestion, size: UInt64) throws -> RevenueReport? {
        guard question.range.isOfWholeDays,
            let rollUp = rollUps.current(question.environment),
            rollUp.size <= size, size - rollUp.size <= Self.behindLimit,
            question.point.at >= rollUp.through
        else { return nil }
        guard var spoken = try purchasesSpokenOf(rollUp.size..<size, question.environment) else {
            return nil
        }
        let moved = spoken.count
        spoken.formUnion(rollUp.pending.filter { $0.value > question.point.at }.keys)
        guard spoken.count <= Self.anewLimit else { return nil }
        var report = rollUp.report
        let change = try change(of: spoken, from: rollUp.size, to: size, at: question.point.at)
        report.merge(change.before, times: -1)
        report.merge(change.after)
        if moved > Self.moveLimit { _ = try move(rollUp, to: size, question.environment) }
        return report.clipped(to: question.range)
    }

    /// Moves the roll-up of revenue to the log's end, or makes it anew where it is far behind.
    ///
    /// Nothing is lost without it: reports read the log then.
    ///
    /// Cost: as one report from the log, or some record reads for each purchase that was spoken of
    /// since.
    public func rollUpRevenue(_ environment: StoreEnvironment) throws {
        let size = try questions.size()
        if let known = rollUps.current(environment), known.size <= size,
            size - known.size <= Self.behindLimit, try move(known, to: size, environment)
        {
            return
        }
        let question = ReportQuestion(
            .revenue,
            environment: environment,
            point: BitemporalPoint(at: Self.lastOfAll, knownAt: .sequence(size))
        )
        let through = try recordedThrough(size)
        let (report, pending) = try foldRevenue(question, size: size, pendingAfter: through)
        rollUps.keep(
            RevenueRollUp(size: size, through: through, report: report, pending: pending),
            environment
        )
    }

    /// Whether the roll-up that stands is what the log gives; nil where none stands.
    ///
    /// Cost: as one report from the log.
    func rollUpAgrees(_ environment: StoreEnvironment) throws -> Bool? {
        guard let kept = rollUps.current(environment), kept.size <= (try questions.size()) else {
            return nil
        }
        let question = ReportQuestion(
            .revenue,
            environment: environment,
            point: BitemporalPoint(at: Self.lastOfAll, knownAt: .sequence(kept.size))
        )
        return try foldRevenue(question, size: kept.size, pendingAfter: nil).report == kept.report
    }

    /// Once all has come to pass.
    private static let lastOfAll = Instant(milliseconds: .max)

    func recordedThrough(_ size: UInt64) throws -> Instant {
        size > 0 ? try questions.log.recordedAt(size - 1) : Instant(milliseconds: .min)
    }

    /// Moves a roll-up along; false where an erasure followed it.
    private func move(
        _ rollUp: RevenueRollUp,
        to size: UInt64,
        _ environment: StoreEnvironment
    ) throws -> Bool {
        var moved = rollUp
        moved.size = size
        moved.through = try recordedThrough(size)
        guard rollUp.size < size else { return true }
        guard let spoken = try purchasesSpokenOf(rollUp.size..<size, environment) else {
            return false
        }
        let change = try change(
            of: spoken.union(rollUp.pending.keys),
            from: rollUp.size,
            to: size,
            at: Self.lastOfAll
        )
        moved.report.merge(change.before, times: -1)
        moved.report.merge(change.after)
        moved.pending = change.latest.filter { $0.value > moved.through }
        rollUps.keep(moved, environment)
        return true
    }

    /// The streams of purchases whose money or names a part of the log speaks of; nil where it
    /// tells of an erasure: what was counted before that opens no more (P13).
    private func purchasesSpokenOf(
        _ range: Range<UInt64>,
        _ environment: StoreEnvironment
    ) throws -> Set<UInt64>? {
        let kinds = KindSet(MoneyFact.reads)
        var streams: Set<UInt64> = []
        var isErased = false
        try questions.log.scan(from: range.lowerBound, upTo: range.upperBound) { header, _ in
            if header.kind == EventKind.customerErased.rawValue {
                isErased = true
                return false
            }
            if header.environment == environment.rawValue, kinds.contains(try header.eventKind()) {
                streams.insert(header.stream)
            }
            return true
        }
        return isErased ? nil : streams
    }

    /// Some purchases as they stood and as they stand, and the latest time that is told of each.
    ///
    /// What stood is counted as the roll-up counts it: once all has come to pass.
    private func change(
        of streams: Set<UInt64>,
        from first: UInt64,
        to size: UInt64,
        at instant: Instant
    ) throws -> (before: RevenueReport, after: RevenueReport, latest: [UInt64: Instant]) {
        if questions.views.end < size { try questions.views.catchUp() }
        let always = Interval(start: Instant(milliseconds: .min), end: nil)
        var before = RevenueTally(at: Self.lastOfAll, range: always)
        var after = RevenueTally(at: instant, range: always)
        var latest: [UInt64: Instant] = [:]
        var reader = MoneyReader(questions: questions, size: size)
        for stream in streams.sorted() {
            guard let facts = try reader.facts(aboutPurchase: stream) else { continue }
            let compared = try comparable(facts)
            before.add(compared.filter { $0.fact.sequence < first })
            after.add(compared)
            latest[stream] = compared.map(\.fact.time).max()
        }
        let names = reader.names.names
        return (before.report(names), after.report(names), latest)
    }
}

/// Reads what is said of the money of single purchases, through the index.
private struct MoneyReader {
    let questions: Questions
    let size: UInt64
    private(set) var names = FactNameTable()
    private var met: Set<UInt64> = []
    private let kinds = KindSet(MoneyFact.reads)

    init(questions: Questions, size: UInt64) {
        self.questions = questions
        self.size = size
    }

    /// What is said of a purchase and all that links ever joined with it, ascending by sequence;
    /// nil if it was handed out already.
    mutating func facts(aboutPurchase stream: UInt64) throws -> [MoneyFact]? {
        guard met.insert(stream).inserted else { return nil }
        var queue = [stream]
        var sequences: Set<UInt64> = []
        while let next = queue.popLast() {
            let entries = try questions.views.entries(of: next, below: size)
            for entry in entries {
                guard let kind = EventKind(rawValue: entry.kind), kinds.contains(kind),
                    sequences.insert(entry.sequence).inserted, kind == .purchaseLinked
                else { continue }
                try questions.log.readRecords([entry.sequence]) { _, record in
                    let header = try RecordHeader(checking: record)
                    for joined in try [header.stream] + header.otherStreams(record)
                    where met.insert(joined).inserted {
                        queue.append(joined)
                    }
                }
            }
        }
        var facts: [MoneyFact] = []
        var signals = SignalSet(expecting: sequences.count)
        try questions.log.readRecords(sequences.sorted()) { sequence, record in
            let header = try RecordHeader(checking: record)
            guard header.sequence == sequence else {
                throw LogStorageFault(.damaged, "record \(sequence) is another")
            }
            guard signals.insert(header.signal, of: header.stream),
                let fact = try header.moneyFact(of: record, &names)
            else { return }
            facts.append(fact)
        }
        return facts
    }
}
