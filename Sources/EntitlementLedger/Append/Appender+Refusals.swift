public import Entitlements

extension Appender {
    /// Counts a signal that failed verification, and keeps the count at most once an hour and reason
    /// as `signal.noted` `verification_refused` on `store/STORE` (Stores, rule 5).
    ///
    /// Nothing of the signal is kept, only its code and how many there were since the last note.
    /// Counts of less than an hour are in memory: who wants them to outlive the process keeps
    /// `refusalsToNote`. A count that cannot be noted is tried again: the refusal itself never fails by
    /// it.
    ///
    /// Cost: some atomic additions; once an hour and reason a commit.
    ///
    /// - Parameters:
    ///   - code: the refusal's code, of a closed set; no value from the signal.
    ///   - store: the store that it claims to come from, such as `app_store`.
    ///   - environment: the environment of the endpoint that it was posted to.
    /// - Returns: whether the count was noted now.
    @discardableResult
    public func countRefusal(
        _ code: String,
        of store: String,
        environment: StoreEnvironment
    ) -> Bool {
        let reason = refusals.reason(
            RefusalTally.Key(store: store, environment: environment, code: code)
        )
        reason.add(1)
        return note(reason, at: clock())
    }

    /// Notes what was counted an hour ago and longer, where no refusal came since that would have
    /// had it noted.
    ///
    /// - Returns: whether anything was noted.
    package func noteRefusals() -> Bool {
        let now = clock()
        return refusals.reasons.reduce(false) { note($1, at: now) || $0 }
    }

    /// What was counted and is in no note yet.
    package var refusalsToNote: [RefusalCount] {
        refusals.reasons.compactMap { reason in
            let (key, count) = (reason.key, reason.pending)
            return count > 0 ? RefusalCount(key.store, key.environment, key.code, count) : nil
        }
    }

    /// Takes up what an earlier process counted and did not note.
    package func takeUp(_ counts: [RefusalCount]) {
        for count in counts {
            refusals.reason(
                RefusalTally.Key(
                    store: count.store,
                    environment: count.environment,
                    code: count.code
                )
            )
            .add(count.count)
        }
    }

    private func note(_ reason: RefusalTally.Reason, at now: Instant) -> Bool {
        guard let count = reason.take(at: now) else { return false }
        do {
            let receipt = try record(reason.note(count, at: now))
            if case .appended = receipt { return true }
            // This hour's note was made before the process began.
            reason.giveBack(count, until: RefusalTally.nextHour(after: now))
        } catch {
            // Whoever posts a bad signal is told so whether or not the disk has room.
            reason.giveBack(
                count,
                until: now.advanced(byMilliseconds: RefusalTally.retryMilliseconds)
            )
        }
        return false
    }
}

/// Refused signals of one reason that are in no note yet.
package struct RefusalCount: Sendable, Equatable {
    /// The store that they claim to come from.
    package var store: String
    /// The environment of the endpoint that they were posted to.
    package var environment: StoreEnvironment
    /// The refusals' code.
    package var code: String
    /// How many there were.
    package var count: Int

    /// More than these are not refused between two notes; a file may say so.
    private static let countLimit = 1_000_000_000

    /// Makes a count.
    package init(_ store: String, _ environment: StoreEnvironment, _ code: String, _ count: Int) {
        self.store = store
        self.environment = environment
        self.code = code
        self.count = count
    }

    /// Checks what somebody kept; nil: it is no count of refusals.
    package init?(
        keptOf store: String,
        _ environment: StoreEnvironment,
        _ code: String,
        _ count: Int
    ) {
        guard Source.stores.contains(store), Identifier.isStore(code),
            (1...Self.countLimit).contains(count)
        else { return nil }
        self.init(store, environment, code, count)
    }
}

extension RefusalTally {
    /// Where the next whole hour begins.
    static func nextHour(after now: Instant) -> Instant {
        Instant(milliseconds: (hour(of: now) + 1) * intervalMilliseconds)
    }

    /// The hour of an instant, counted from 1970.
    static func hour(of instant: Instant) -> Int64 {
        let (hour, rest) = instant.milliseconds.quotientAndRemainder(
            dividingBy: intervalMilliseconds
        )
        return rest < 0 ? hour - 1 : hour
    }
}

extension RefusalTally.Reason {
    /// The event that keeps a count; its id is the hour's, so that a new process makes no second.
    fileprivate func note(_ count: Int, at now: Instant) -> Submission {
        let hour = RefusalTally.hour(of: now)
        let id = "\(RefusalNote.name)/\(key.store)/\(key.code)/\(hour)"
        let draft = EventDraft(
            subject: .store(key.store),
            time: now,
            data: EventData(
                .signalNoted,
                [
                    .name: .text(RefusalNote.name),
                    .detail: .text(RefusalNote(code: key.code, count: count).detail),
                ]
            )
        )
        return Submission(
            id: id,
            source: Source.ledger,
            environment: key.environment,
            nature: .signal,
            drafts: [draft]
        )
    }
}
