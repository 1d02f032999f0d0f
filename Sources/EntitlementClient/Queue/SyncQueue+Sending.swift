import Encodings
import Entitlements
import LedgerAPI

/// What is sent.
extension SyncQueue {
    /// Longer than a call ever waits by intent.
    private static let longestWait = 7 * Instant.millisecondsPerDay
    /// Refused calls that are remembered, so that they are not handed in at each start.
    private static let refusedLimit = 100

    /// Sends what is due, each purchase's in their order.
    ///
    /// One pass at a time: whoever calls while one runs waits for it, and has one of their own, since
    /// that one may have gone past what they added.
    func send() async {
        while let drain { await drain.value }
        let task = Task { await self.sendAll() }
        drain = task
        await task.value
    }

    private func sendAll() async {
        // Cleared by the pass itself: whoever waits for it finds none.
        defer { drain = nil }
        var held = Set<Name>()
        isCut = false
        forgetLateUses()
        var now = time.now()
        while !isCut, let call = next(besides: held, at: now) {
            // One that waits for somebody holds up nobody.
            if await !isDone(call),
                calls.contains(where: { $0.id.isSame(as: call.id) && $0.isOpen })
            {
                held.insert(call.lane)
            }
            now = time.now()
        }
        setAlarm(at: now)
    }

    /// The first call that is due and behind no other of its lane.
    ///
    /// What only the store has opened is used behind every purchase: the server would call it closed. What the store
    /// is finishing is done as far as the others are concerned.
    private func next(besides held: Set<Name>, at now: Instant) -> QueuedCall? {
        var lanes = held
        let isHandingIn = calls.contains(where: \.isHandingIn)
        for call in calls where call.isOpen && !isBeingFinished(call) {
            guard lanes.insert(call.lane).inserted else { continue }
            if call.phase == .recorded { return call }
            if isHandingIn, call.use?.isProvisional == true { continue }
            if isDue(call, at: now) { return call }
        }
        return nil
    }

    /// Whether a call's time has come; one that waits for longer than anybody asks was noted by a clock that
    /// was wrong.
    private func isDue(_ call: QueuedCall, at now: Instant) -> Bool {
        guard let notBefore = call.notBefore else { return true }
        return notBefore <= now
            || notBefore > now.advanced(byMilliseconds: Self.longestWait)
    }

    /// Tries a call; returns whether the next of its lane may go.
    private func isDone(_ call: QueuedCall) async -> Bool {
        if call.phase == .recorded {
            await finishAll(of: call)
            return true
        }
        guard let customer else { return false }
        let result = await connection.call(
            .post,
            ServerConnection.path(call.path(in: environment), of: customer),
            headers: ["Idempotency-Key": call.id],
            body: Array(call.body.description.utf8)
        )
        switch result {
        case .success(let response):
            guard response.isLedgers(to: call) else {
                isCut = true
                return fail(call, .unreached)
            }
            await record(call, response)
            return true
        case .failure(let fault):
            isCut = fault == .unreached
            return fail(call, fault)
        }
    }

    /// Notes that the server has recorded a call, then tells the store (row ES5).
    private func record(_ call: QueuedCall, _ response: ClientResponse) async {
        var call = call
        (call.phase, call.recordedAt) = (.recorded, time.now())
        // Behind a semicolon a machine among several says of which history it is.
        call.size = response.headers["ledger-sequence"].flatMap { UInt64($0.prefix { $0 != ";" }) }
        if case .flow = call.task { return remove(call) }
        var later: [StoreTransaction] = []
        if case .restore(let all) = call.task { later = note(response, of: all, in: &call) }
        if call.use != nil { call.endsAt = response.leaseEnd }
        // Before it is noted: a program that is killed in between tells it under the same key.
        tellRestored(call)
        update(call)
        // What is refused for now only is handed in by itself.
        if let owner = call.customer {
            let claims = later.compactMap { add(.claim($0), for: owner) }
            if !claims.isEmpty { restored[call.id]?.later = claims }
        }
        // What is handed in again, since a server lost it, was finished before.
        if !call.isFinished { await finishAll(of: call) }
    }

    /// Notes which transactions of a restore were refused beside the others: those grant nothing,
    /// and are not finished; returns those that may be taken later.
    private func note(
        _ response: ClientResponse,
        of transactions: [StoreTransaction],
        in call: inout QueuedCall
    ) -> [StoreTransaction] {
        var later: [StoreTransaction] = []
        // As many as were handed in: another answer is no ledger's.
        for (item, transaction) in zip(response.restoredItems ?? [], transactions) {
            let outcome = item.claimOutcome
            if outcome == .recorded || outcome == .known { continue }
            call.refusedItems.insert(Name(transaction.id))
            let code = item["code"]?.string.flatMap(ProblemCode.init(rawValue:))
            // What is said in a newer server's own words is neither recorded nor refused: its own claim decides.
            guard outcome == .refused, code?.isRetryable != true else {
                later.append(transaction)
                continue
            }
            notices.send(.refused(code?.serviceError() ?? ServiceError(.verificationFailed)))
        }
        let count = transactions.count - call.refusedItems.count
        restored[call.id] = (count: count, later: [])
        return later
    }

    /// Tells that a restore recorded something, or met what was recorded (row 10.1), under a key of its own: it
    /// counts once, however often a server that lost it is handed it again.
    private func tellRestored(_ call: QueuedCall) {
        let key = call.id + "-restored"
        guard let owner = call.customer, let count = restored[call.id]?.count, count > 0,
            !calls.contains(where: { $0.id.isSame(as: key) })
        else { return }
        let body = JSONValue.object(QueuedCall.flowBody("restored", call.id))
        add(.flow(body, id: call.id), for: owner, key: key)
    }

    private func fail(_ call: QueuedCall, _ fault: CallFault) -> Bool {
        var call = call
        let now = time.now()
        switch fault.verdict {
        case .never:
            call.phase = .refused
            call.refusal = fault.error
            update(call)
            notices.send(.refused(fault.error))
            forgetOldest()
            return true
        case .tokenRefused:
            notices.send(.tokenRefused(fault.error))
            call.notBefore = now.advanced(byMilliseconds: backoff.longest)
        case .later(let asked):
            // Where nobody is reached, those not tried yet wait as long as whoever was tried most.
            let tried = isCut ? calls.map(\.attempts).max() ?? 0 : 0
            call.attempts += 1
            let pause = backoff.pause(
                after: max(call.attempts, tried),
                asked: asked,
                random: time.random()
            )
            let again = now.advanced(byMilliseconds: pause)
            if isCut { cutUntil = again }
            if call.attempts >= backoff.attemptLimit {
                call.phase = .attention
                notices.send(.needsAttention(fault.error))
            } else {
                call.notBefore = again
            }
        }
        update(call)
        return false
    }

    /// Writes how far a call is, unless it is gone: its customer was switched.
    private func update(_ call: QueuedCall) {
        guard let place = calls.firstIndex(where: { $0.id.isSame(as: call.id) }) else { return }
        var call = call
        call.verifiedAt = max(call.verifiedAt, calls[place].verifiedAt)
        // The store may have returned while the server was asked.
        call.isFinished = call.isFinished || calls[place].isFinished
        calls[place] = call
        write(call.state)
    }

    /// A use whose window is over takes nothing of the next: it is told no more.
    private func forgetLateUses() {
        let now = time.now()
        for call in calls where call.phase == .waiting || call.phase == .attention {
            if let until = call.use?.until, until <= now { remove(call) }
        }
    }

    /// Purchases and the rest apart: a purchase that is forgotten is handed in anew at the next start.
    private func forgetOldest() {
        for isPurchase in [true, false] {
            let refused = calls.filter {
                $0.phase == .refused && $0.transactions.isEmpty != isPurchase
            }
            for call in refused.dropLast(Self.refusedLimit) { remove(call) }
        }
    }

    /// Waits for the next call that is due.
    ///
    /// What was due at the end of a pass and was not tried waits for what stands before it, or, where nobody
    /// was reached, until somebody may be.
    private func setAlarm(at now: Instant) {
        alarm?.cancel()
        alarm = nil
        let dues = calls.filter { $0.phase == .waiting }.compactMap { call -> Instant? in
            if isDue(call, at: now) { isCut ? cutUntil : nil } else { call.notBefore }
        }
        guard isStarted, let due = dues.min() else { return }
        let (time, whenDue) = (time, whenDue)
        alarm = Task {
            // Whoever is stopped meanwhile waits for nothing any more.
            guard (try? await time.sleep(due)) != nil, !Task.isCancelled else { return }
            await whenDue?()
        }
    }
}

extension ClientResponse {
    /// Whether a ledger gave it, to a call: whatever else stands on the way, such as a network that has its guests
    /// sign in, answers everything by something of its own, and has recorded nothing.
    ///
    /// An answer by which something is finished says what became of it: those to questions tell a size of the log as
    /// well.
    fileprivate func isLedgers(to call: QueuedCall) -> Bool {
        switch call.task {
        case .claim: json?.claimOutcome.map { $0 != .refused } ?? false
        case .restore(let all): restoredItems?.count == all.count
        case .flow, .use: headers["ledger-sequence"] != nil || json?["outcome"]?.string != nil
        }
    }

    /// What became of each transaction of a restore, in their order; nil: it does not say it.
    fileprivate var restoredItems: [JSONValue]? { json?["items"]?.array }

    /// What is no JSON is no answer of a ledger.
    private var json: JSONValue? { try? JSONValue(parsing: body) }
}

extension JSONValue {
    /// What became of a transaction that was handed in; nil: it says so in no word that is known.
    fileprivate var claimOutcome: ClaimItem.Outcome? {
        self["outcome"]?.string.flatMap(ClaimItem.Outcome.init(rawValue:))
    }
}
