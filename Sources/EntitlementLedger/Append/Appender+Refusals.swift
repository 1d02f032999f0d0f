public import Entitlements

extension Appender {
    /// Counts a signal that failed verification, and keeps the count at most once an hour and reason
    /// as `signal.noted` `verification_refused` on `store/STORE` (Stores, rule 5).
    ///
    /// Nothing of the signal is kept, only its code and how many there were since the last note.
    /// Counts of less than an hour are in memory and go with the process. A count that cannot be
    /// kept is tried again: the refusal itself never fails by it.
    ///
    /// Cost: some atomic additions; once an hour and reason a commit.
    ///
    /// - Parameters:
    ///   - code: the refusal's code, of a closed set; no value from the signal.
    ///   - store: the store that it claims to come from, such as `app_store`.
    ///   - environment: the environment of the endpoint that it was posted to.
    public func countRefusal(_ code: String, of store: String, environment: StoreEnvironment) {
        let now = clock()
        let reason = refusals.reason(
            RefusalTally.Key(store: store, environment: environment, code: code)
        )
        guard let count = reason.add(at: now) else { return }
        do {
            let receipt = try record(reason.note(count, at: now))
            if case .appended = receipt { return }
            // This hour's note was made before the process began.
            reason.giveBack(count, until: RefusalTally.nextHour(after: now))
        } catch {
            // Whoever posts a bad signal is told so whether or not the disk has room.
            reason.giveBack(
                count,
                until: now.advanced(byMilliseconds: RefusalTally.retryMilliseconds)
            )
        }
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
