import EntitlementLedger
package import Entitlements
import LMDBStorage
import LedgerAPI

/// Notices what is to be told: event by event in the log's order, and what time changes at its instants, in
/// the order in which it happened.
///
/// Whoever is stopped goes on where the last step ended: a step is kept whole or not at all, and what it
/// notices follows from the log alone.
package struct NoticeMaker: Sendable {
    private let webhooks: Webhooks

    private var questions: Questions { webhooks.ledger.questions }
    private var store: DeliveryStore { webhooks.store }

    /// Events that one step looks at: what a step finds is told once it ends.
    private static let eventLimit: UInt64 = 32
    /// Events of one purchase or customer at one instant that one step looks at together.
    private static let instantLimit: UInt64 = 256
    /// Streams that one step looks at between two events because of time.
    private static let lookLimit = 1000
    /// Milliseconds for which notices are kept, to be delivered once more.
    private static let noticeLifetime = 30 * Instant.millisecondsPerDay
    /// Notices that one step forgets.
    private static let forgetLimit = 1000

    /// Notices for those who are kept.
    package init(_ webhooks: Webhooks) { self.webhooks = webhooks }

    /// What a step came to.
    package enum Step: Sendable {
        /// There is more to look at now.
        case goesOn
        /// All was looked at.
        case isDone
    }

    /// Looks at what comes next.
    ///
    /// Cost: the first time, and behind each catalog, a fold of everybody; else two of each customer whom
    /// an event concerns.
    package func step(at now: Instant) throws -> Step {
        let told = try store.endpointBytes().compactMap { try Webhooks.webhook($0.bytes) }
        guard !told.isEmpty else {
            // Nobody wants to know: whoever comes is told of what happens from then on.
            if try store.lookedThrough() != nil { try store.forgetProgress() }
            return .isDone
        }
        guard let progress = try store.lookedThrough() else { return .isDone }
        let size = try questions.size()
        guard progress.size <= size else {
            // A log that was restored to less: what it tells from now on is told.
            try store.beginAgain(DeliveryProgress(size: size, instant: now.milliseconds))
            return .goesOn
        }
        if try store.isBegun() {
            // What anybody could use before they asked is not told.
            try lookAtEverybody(progress, telling: [], of: nil, at: now)
            return .goesOn
        }
        var look = NoticeLook(webhooks, told, progress)
        var last: Questions.EventMark?
        // Fits: places in a log.
        for sequence in progress.size..<min(size, progress.size + Self.instantLimit) {
            let mark = try questions.mark(at: sequence)
            // What a signal tells of one purchase is told once: a step does not end within it.
            if sequence >= progress.size + Self.eventLimit,
                mark?.recordedAt != last?.recordedAt || mark?.stream != last?.stream
            {
                break
            }
            last = mark
            guard let mark else {
                look.progress.size = sequence + 1
                continue
            }
            // Recorded time never goes back, but this clock may have been ahead of the log's.
            let instant = max(mark.recordedAt.milliseconds, look.progress.instant)
            // What time changed before the event was recorded, it changed without the event.
            guard try pass(until: instant, &look, told, now) else { return .goesOn }
            guard mark.kind == .catalogPublished else {
                try look.look(at: mark, sequence, Instant(milliseconds: instant))
                continue
            }
            // What comes before it is kept first.
            guard look.isEmpty else {
                try look.keep(at: now)
                return .goesOn
            }
            let passed = DeliveryProgress(size: sequence + 1, instant: instant)
            let notice = Notice(mark, at: sequence, of: mark.stream)
            try lookAtEverybody(passed, telling: told, of: sequence, [notice], at: now)
            return .goesOn
        }
        if look.progress.size == size {
            let instant = max(now.milliseconds, look.progress.instant)
            guard try pass(until: instant, &look, told, now) else { return .goesOn }
        }
        // That time passed and changed nothing need not be kept.
        if !look.isEmpty || look.progress.size > progress.size { try look.keep(at: now) }
        guard look.progress.size == size else { return .goesOn }
        let oldest = now.advanced(byMilliseconds: -Self.noticeLifetime)
        return try store.forgetNotices(before: oldest.milliseconds, limit: Self.forgetLimit)
            ? .goesOn : .isDone
    }

    /// Looks at what time changes up to an instant; false: it was kept in part, and the rest comes with the
    /// next step.
    private func pass(
        until instant: Int64,
        _ look: inout NoticeLook,
        _ told: [Webhook],
        _ now: Instant
    ) throws -> Bool {
        switch try look.passTime(until: instant, limit: Self.lookLimit) {
        case .whole: return true
        case .inPart: try look.keep(at: now)
        case .upToCatalog(let start):
            if look.isEmpty {
                let passed = DeliveryProgress(size: look.progress.size, instant: start)
                try lookAtEverybody(passed, telling: told, of: nil, at: now)
            } else {
                try look.keep(at: now)
            }
        }
        return false
    }

    /// Looks at all customers: when each is to be looked at again, and what a catalog made of them.
    ///
    /// `sequence`: the catalog's event; nil: it comes into force at the instant, or it is nothing that is
    /// told.
    private func lookAtEverybody(
        _ progress: DeliveryProgress,
        telling told: [Webhook],
        of sequence: UInt64?,
        _ notices: [Notice] = [],
        at now: Instant
    ) throws {
        let instant = Instant(milliseconds: progress.instant)
        for environment in StoreEnvironment.allCases {
            try questions.accessOutlooks(
                in: environment,
                at: instant,
                upTo: progress.size,
                catalog: sequence
            ) { [store] outlooks in
                let changes = outlooks.compactMap { outlook in
                    outlook.change.map { Notice($0, outlook) }
                }
                try store.note(
                    nil,
                    looks: outlooks.compactMap(\.look),
                    changes.wanted(by: told).map(\.bytes),
                    at: now.milliseconds
                )
            }
        }
        let next = try questions.catalogHistory(size: progress.size).next(after: instant)
        try store.note(
            progress,
            looks: next.map { [DueLook(everybodyAt: $0)] } ?? [],
            done: next == nil ? [NoticeLook.everybody] : [],
            hasSeenAll: true,
            notices.wanted(by: told).map(\.bytes),
            at: now.milliseconds
        )
    }
}

extension [Notice] {
    /// Those that somebody is told of.
    func wanted(by told: [Webhook]) -> [Notice] {
        filter { notice in told.contains { $0.wants(notice) } }
    }
}

extension DueLook {
    /// A look at everybody, when a catalog comes into force.
    fileprivate init(everybodyAt instant: Instant) {
        self.init(instant: instant.milliseconds, stream: NoticeLook.everybody, environment: 0)
    }
}
