import Encodings
import Entitlements
import LedgerAPI

/// What must reach the server: purchases, restores, flows (rows 3.5, 8.1, ES5).
///
/// Each is written before it is tried, under an `Idempotency-Key` of its own that never changes, and
/// survives whatever ends the program. Those of one purchase go in their order. A transaction is
/// finished once the server has recorded it.
actor SyncQueue {
    private let storage: any CacheStorage
    private let connection: ServerConnection
    private let environment: StoreEnvironment
    private let time: ClientTime
    private let backoff: Backoff
    private let notices: Broadcast<ClientNotice>
    private let finish: @Sendable (StoreTransaction) async -> Void

    private var customer: CustomerID?
    private(set) var calls: [QueuedCall] = []
    /// Ids of all calls that it ever had: what else stands in the file is another program's.
    private var met = Set<Name>()
    private var spentLines = 0
    /// Whether the file must be written anew before anything is added to it.
    private var isTorn = false
    private var drain: Task<Void, Never>?
    private var alarm: Task<Void, Never>?
    private var isStarted = false
    /// Whether nobody was reached just now: the others would not be either.
    private var isCut = false
    /// How many transactions the last restore recorded.
    private(set) var restored: (id: String, count: Int)?
    /// Called where something waits that was due.
    private var whenDue: (@Sendable () async -> Void)?

    /// Lines that say nothing any more before the file is written anew.
    private static let spentLimit = 256
    /// Refused calls that are remembered, so that they are not handed in at each start.
    private static let refusedLimit = 100

    init(
        _ customer: CustomerID?,
        storage: any CacheStorage,
        connection: ServerConnection,
        environment: StoreEnvironment = .production,
        time: ClientTime,
        backoff: Backoff = Backoff(),
        notices: Broadcast<ClientNotice>,
        finish: @escaping @Sendable (StoreTransaction) async -> Void
    ) {
        self.customer = customer
        self.storage = storage
        self.connection = connection
        self.environment = environment
        self.time = time
        self.backoff = backoff
        self.notices = notices
        self.finish = finish
    }

    /// What its transactions open before an answer of the server has seen them (row 3.4).
    var provisional: [ProvisionalAccess] {
        calls.filter { $0.phase != .refused }.flatMap { call in
            call.transactions.map { ProvisionalAccess($0, verifiedAt: call.verifiedAt) }
        }
    }

    /// Uses that an answer of the server may not have seen.
    var uses: [PendingUse] {
        calls.compactMap { call in
            guard let use = call.use, call.phase != .refused else { return nil }
            return PendingUse(feature: use.feature, size: call.size, until: use.until)
        }
    }

    /// Ids of transactions that can never count.
    var refused: Set<Name> {
        Set(texts: calls.filter { $0.phase == .refused }.flatMap(\.transactions).map(\.id))
    }

    /// The log's size behind what was recorded last; nil: nothing waits to be seen.
    var recordedSize: UInt64? { calls.compactMap(\.size).max() }

    /// The calls that the server has recorded.
    var recorded: Set<Name> { Set(texts: calls.filter { $0.phase == .recorded }.map(\.id)) }
}

/// What is kept.
extension SyncQueue {
    /// Reads the file, once; `whenDue` is called when what waits may be tried again.
    func start(whenDue: @escaping @Sendable () async -> Void) {
        self.whenDue = whenDue
        guard !isStarted else { return }
        isStarted = true
        load()
    }

    private func load() {
        do {
            guard let bytes = try storage.read(.queue) else { return }
            let file = QueueFile(bytes)
            // What another customer left is never sent in this one's name, and opens nothing (row CL5).
            let own = file.calls.filter { $0.customer == customer }
            met.formUnion(Set(texts: file.calls.map(\.id)))
            calls = own + calls.filter { isNew($0, in: file) }
            (spentLines, isTorn) = (file.spentLines, file.isTorn || file.isDamaged)
            if own.count < file.calls.count { try rewrite() }
            if file.isDamaged { notices.send(.cacheRefused(file: CacheFile.queue.rawValue)) }
        } catch {
            notices.send(.cacheFailed(error))
        }
    }

    private func isNew(_ call: QueuedCall, in file: QueueFile) -> Bool {
        !file.calls.contains { $0.id.isSame(as: call.id) }
    }

    /// Ends what runs by itself.
    func stop() {
        isStarted = false
        alarm?.cancel()
    }

    /// Goes on with another customer: nothing of the last one is left (row CL5).
    ///
    /// What was not recorded was not finished, so that the store hands it in again.
    func switchCustomer(to customer: CustomerID?) {
        self.customer = customer
        calls = []
        (spentLines, isTorn) = (0, false)
        alarm?.cancel()
        do { try storage.remove(.queue) } catch { notices.send(.cacheFailed(error)) }
    }

    /// Adds what must reach the server: when it returns, it is written.
    ///
    /// A transaction that waits already is not added twice; that the store verified it anew counts
    /// for what it opens. Where the disk takes nothing, it is told, and tried from memory. Returns
    /// the call's id.
    ///
    /// `key`: its `Idempotency-Key`, where it was tried before; nil: one is made.
    @discardableResult
    func add(_ task: QueuedCall.Task, key: String? = nil) -> String {
        let now = time.now()
        if case .claim(let transaction) = task,
            let place = calls.firstIndex(where: { $0.transactions.contains(transaction) })
        {
            if calls[place].phase != .refused { renew(place, now) }
            return calls[place].id
        }
        let call = QueuedCall(id: key ?? makeKey(), task, of: customer, verifiedAt: now)
        calls.append(call)
        met.insert(Name(call.id))
        write(call.added)
        return call.id
    }

    /// Notes that the store verified transactions anew (row 3.4).
    func verified(_ transactions: [StoreTransaction]) {
        let now = time.now()
        for (place, call) in calls.enumerated()
        where call.phase != .refused && call.transactions.contains(where: transactions.contains) {
            renew(place, now)
        }
    }

    private func renew(_ place: Int, _ now: Instant) {
        guard calls[place].verifiedAt < now else { return }
        calls[place].verifiedAt = now
        write(calls[place].state)
    }

    /// Takes away what the server's answer has seen.
    func settle(_ ids: Set<Name>) {
        for call in calls where ids.contains(call.id) && call.isFinished { remove(call) }
    }

    /// Tries again what waits for somebody, and what waits for its time (row 8.1).
    func retry() {
        for (place, call) in calls.enumerated()
        where call.phase == .attention || call.phase == .waiting && call.attempts > 0 {
            calls[place].phase = .waiting
            (calls[place].attempts, calls[place].notBefore) = (0, nil)
            write(calls[place].state)
        }
    }

    private func remove(_ call: QueuedCall) {
        calls.removeAll { $0.id.isSame(as: call.id) }
        spentLines += 2
        write(call.removed)
    }

    /// 128 random bits, in hexadecimal.
    private func makeKey() -> String {
        [time.random(), time.random()].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        .joined()
    }

    /// Writes the file anew, with what another program of the app's has put into it.
    private func rewrite() throws(ServiceError) {
        let others = try storage.read(.queue).map { bytes in
            QueueFile(bytes).calls.filter { $0.customer == customer && !met.contains($0.id) }
        }
        try storage.write(QueueFile.bytes(calls + (others ?? [])), to: .queue)
        (spentLines, isTorn) = (0, false)
    }

    /// Writes a change behind the others, or everything anew.
    private func write(_ change: JSONValue) {
        do {
            if isTorn || spentLines > Self.spentLimit {
                try rewrite()
            } else {
                spentLines += change["op"]?.string == "state" ? 1 : 0
                try storage.append(QueueFile.line(change), to: .queue)
            }
        } catch {
            isTorn = true
            notices.send(.cacheFailed(error))
        }
    }
}

/// What is sent.
extension SyncQueue {
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
        while !isCut, let call = next(besides: held) {
            guard await isDone(call) else {
                held.insert(call.lane)
                continue
            }
        }
        setAlarm()
    }

    /// The first call that is due and behind no other of its lane.
    private func next(besides held: Set<Name>) -> QueuedCall? {
        var lanes = held
        let now = time.now()
        for call in calls where call.isOpen {
            guard lanes.insert(call.lane).inserted else { continue }
            if call.phase == .recorded || call.notBefore.map({ $0 <= now }) ?? true { return call }
        }
        return nil
    }

    /// Tries a call; returns whether the next of its lane may go.
    private func isDone(_ call: QueuedCall) async -> Bool {
        if call.phase == .recorded {
            await finish(call)
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
        call.phase = .recorded
        call.size = response.headers["ledger-sequence"].flatMap { UInt64($0) }
        if case .flow = call.task { return remove(call) }
        if case .restore(let all) = call.task { note(response, of: all, in: &call) }
        if call.use != nil { call.endsAt = response.leaseEnd }
        update(call)
        await finish(call)
    }

    /// Notes which transactions of a restore were refused beside the others: those grant nothing,
    /// and are not finished.
    private func note(
        _ response: ClientResponse,
        of transactions: [StoreTransaction],
        in call: inout QueuedCall
    ) {
        // What cannot be read says of none that it is recorded.
        let answer = (try? JSONValue(parsing: response.body))
            .flatMap { try? RestoreAnswer.fields.read($0) }
        for (place, transaction) in transactions.enumerated() {
            let item = answer.flatMap { place < $0.items.count ? $0.items[place] : nil }
            if let item, item.outcome != .refused { continue }
            call.refusedItems.insert(Name(transaction.id))
            let code = item?.code.flatMap(ProblemCode.init(rawValue:))
            notices.send(.refused(code?.serviceError() ?? ServiceError(.verificationFailed)))
        }
        restored = (call.id, transactions.count - call.refusedItems.count)
    }

    private func finish(_ call: QueuedCall) async {
        for transaction in call.transactions { await finish(transaction) }
        var call = call
        call.isFinished = true
        update(call)
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
            call.attempts += 1
            if call.attempts >= backoff.attemptLimit {
                call.phase = .attention
                notices.send(.needsAttention(fault.error))
            } else {
                let pause = backoff.pause(
                    after: call.attempts,
                    asked: asked,
                    random: time.random()
                )
                call.notBefore = now.advanced(byMilliseconds: pause)
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

    private func forgetOldest() {
        let refused = calls.filter { $0.phase == .refused }
        for call in refused.dropLast(Self.refusedLimit) { remove(call) }
    }

    /// Waits for the next call that is due.
    private func setAlarm() {
        alarm?.cancel()
        alarm = nil
        guard isStarted,
            let due = calls.filter({ $0.phase == .waiting }).compactMap(\.notBefore).min()
        else { return }
        let (time, whenDue) = (time, whenDue)
        alarm = Task {
            // Whoever is stopped meanwhile waits for nothing any more.
            guard (try? await time.sleep(due)) != nil, !Task.isCancelled else { return }
            await whenDue?()
        }
    }
}
