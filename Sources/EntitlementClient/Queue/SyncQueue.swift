import Encodings
import Entitlements
import Foundation
import LedgerAPI

/// What must reach the server: purchases, restores, flows (rows 3.5, 8.1, ES5).
///
/// Each is written before it is tried, under an `Idempotency-Key` of its own that never changes, and
/// survives whatever ends the program. Those of one purchase go in their order. A transaction is
/// finished once the server has recorded it.
actor SyncQueue {
    private let storage: any CacheStorage
    let connection: ServerConnection
    let environment: StoreEnvironment
    let time: ClientTime
    let backoff: Backoff
    let notices: Broadcast<ClientNotice>
    let finish: @Sendable (StoreTransaction) async -> Void

    var customer: CustomerID?
    var calls: [QueuedCall] = []
    /// Ids of all calls that it ever had: what else stands in the file is another program's.
    private var met = Set<Name>()
    private var spentLines = 0
    /// Whether the file was read: what is in memory is newer from then on.
    private var isLoaded = false
    /// Whether the file must be written anew before anything is added to it.
    private var isTorn = false
    var drain: Task<Void, Never>?
    var alarm: Task<Void, Never>?
    var isStarted = false
    /// Whether nobody was reached just now: the others would not be either.
    var isCut = false
    /// When the call is tried again that reached nobody last; nil: all have reached somebody so far.
    var cutUntil: Instant?
    /// How many transactions each restore recorded, by its key, and the ids of the claims of those that were
    /// refused for now only.
    var restored: [Name: (count: Int, later: [String])] = [:]
    /// Called where something waits that was due.
    var whenDue: (@Sendable () async -> Void)?
    /// Ids of calls whose transactions the store is finishing.
    var finishing = Set<Name>()
    /// Whoever waits for the store, by the call that it is finishing.
    var storeWaiters: [Name: CheckedContinuation<Void, Never>] = [:]
    /// Ids of calls that the server's last answer has seen, and the store has not finished.
    private var seen = Set<Name>()

    /// Lines that say nothing any more before the file is written anew.
    private static let spentLimit = 256
    /// Flows that wait at most: none of them opens anything.
    static let flowLimit = 200
    /// Uses that are kept at most: those of no window would wait for as long as nobody is reached.
    static let useLimit = 1000
    /// Whether it was told that uses were forgotten.
    private var hasForgottenUses = false

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

    /// What its transactions open, beside others that the store verified, before an answer of the server
    /// has seen them (row 3.4).
    ///
    /// Of each transaction the newest verification counts alone, of two at once the last one: what was
    /// refunded opens no longer what it did when it was bought. What is another customer's by what is `known`
    /// opens nothing before the server has recorded it: whether it may be claimed the server says; nil: nothing is
    /// known.
    func provisional(
        beside others: [VerifiedTransaction] = [],
        knowing known: CustomerEntitlements? = nil
    ) -> [ProvisionalAccess] {
        let known = known ?? CustomerEntitlements(unknown: customer)
        let own = calls.filter { $0.phase != .refused && !seen.contains($0.id) }.flatMap { call in
            call.transactions.map { VerifiedTransaction(transaction: $0, at: call.verifiedAt) }
        }
        var newest: [VerifiedTransaction] = []
        var places: [Name: Int] = [:]
        for verified in others + own {
            let id = Name(verified.transaction.id)
            if let place = places[id] {
                if newest[place].at <= verified.at { newest[place] = verified }
            } else {
                places[id] = newest.count
                newest.append(verified)
            }
        }
        let granted = Set(
            texts: calls.filter { $0.phase == .recorded }.flatMap(\.transactions).map(\.id)
        )
        return newest.filter {
            granted.contains(Name($0.transaction.id)) || !known.isAnothers($0.transaction)
        }
        .map { ProvisionalAccess($0.transaction, verifiedAt: $0.at) }
    }

    /// Uses that an answer of the server may not have seen.
    var uses: [PendingUse] {
        calls.compactMap { call in
            guard let use = call.use, call.phase != .refused else { return nil }
            return PendingUse(feature: use.feature, size: call.size, until: use.until)
        }
    }

    /// Ids of transactions that can never count; a restore that was refused as a whole says nothing of each.
    var refused: Set<Name> {
        let claims = calls.filter { $0.phase == .refused && !$0.isRefusedRestore }
        return Set(texts: claims.flatMap(\.transactions).map(\.id))
            .union(calls.flatMap(\.refusedItems))
    }

    /// The log's size behind what was recorded last; nil: nothing waits to be seen.
    var recordedSize: UInt64? { calls.compactMap(\.size).max() }

    /// When the server said that a call is recorded; nil: it has not in this run of the program, or the call is gone.
    func recordedAt(_ id: String) -> Instant? {
        calls.first { $0.id.isSame(as: id) }?.recordedAt
    }

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
        // What waits of whoever comes back is left for them.
        guard customer != nil, !isLoaded else { return }
        do {
            let read = try puttingAside { () throws(ServiceError) in try storage.read(.queue) }
            isLoaded = true
            guard let bytes = read else {
                // What could not be written before is not in it.
                isTorn = isTorn || !calls.isEmpty
                return
            }
            let file = QueueFile(bytes)
            // What another customer left is never sent in this one's name, and opens nothing (row CL5).
            let own = file.calls.filter { $0.customer == customer && !$0.isRefusedRestore }
            met.formUnion(Set(texts: file.calls.map(\.id)))
            calls = own + calls.filter { isNew($0, in: file) }
            (spentLines, isTorn) = (file.spentLines, isTorn || file.isTorn || file.isDamaged)
            if own.count < file.calls.count { try rewrite() }
            if file.isDamaged { notices.send(.cacheRefused(file: CacheFile.queue.rawValue)) }
        } catch {
            notices.send(.cacheFailed(error))
        }
    }

    /// Reads the file; one that is too large to be read ever again is put aside, and told.
    private func puttingAside<Value>(
        _ read: () throws(ServiceError) -> Value
    ) throws(ServiceError) -> Value {
        do {
            return try read()
        } catch {
            guard error == .keptFileTooLarge else { throw error }
            try storage.putAside(.queue)
            notices.send(.cacheRefused(file: CacheFile.queue.rawValue))
            return try read()
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
        let wasNobody = self.customer == nil
        self.customer = customer
        calls = []
        (spentLines, isTorn, isLoaded) = (0, false, false)
        hasForgottenUses = false
        alarm?.cancel()
        guard !wasNobody else { return load() }
        do { try storage.remove(.queue) } catch { notices.send(.cacheFailed(error)) }
    }

    /// Adds what must reach the server: when it returns, it is written.
    ///
    /// A transaction that waits already is not added twice, nor is a restore of the same; that the store
    /// verified them anew counts for what they open. Of flows and uses the newest are kept. Where the disk takes
    /// nothing, it is told, and tried from memory. Returns the call's id.
    ///
    /// `key`: its `Idempotency-Key`, where it was tried before; nil: one is made.
    @discardableResult
    func add(_ task: QueuedCall.Task, key: String? = nil) -> String {
        let now = time.now()
        bringBack(to: now)
        if key == nil, let place = calls.firstIndex(where: { $0.does(task) }) {
            if calls[place].isRestore { lift(place) }
            if calls[place].phase != .refused { renew(place, now) }
            return calls[place].id
        }
        if case .flow = task { forgetOldestFlow() }
        if case .use = task { forgetOldestUses() }
        let call = QueuedCall(id: key ?? makeKey(), task, of: customer, verifiedAt: now)
        append(call)
        return call.id
    }

    private func append(_ call: QueuedCall) {
        calls.append(call)
        met.insert(Name(call.id))
        write(call.added)
        if call.phase != .waiting { write(call.state) }
    }

    /// The same of a customer; nil: another is signed in by now, and nothing is added (row CL5).
    @discardableResult
    func add(_ task: QueuedCall.Task, for owner: CustomerID, key: String? = nil) -> String? {
        owner == customer ? add(task, key: key) : nil
    }

    private func forgetOldestFlow() {
        let flows = calls.filter(\.isFlow)
        for call in flows.dropLast(Self.flowLimit - 1) { remove(call) }
    }

    /// Makes room for one more use: the oldest of no window go first.
    private func forgetOldestUses() {
        while calls.count >= Self.useLimit, calls.count(where: { $0.use != nil }) >= Self.useLimit,
            let place = calls.firstIndex(where: \.isUseWithoutWindow)
                ?? calls.firstIndex(where: { $0.use != nil })
        {
            remove(calls[place])
            guard !hasForgottenUses else { continue }
            hasForgottenUses = true
            notices.send(
                .cacheFailed(ServiceError(.databaseError, nativeCode: "uses/\(Self.useLimit)"))
            )
        }
    }

    /// Takes away what the server's answer has seen, at a size of the log; what the store has not finished yet stays,
    /// and opens nothing more.
    func settle(_ ids: Set<Name>, seenAt size: UInt64) {
        seen = []
        for call in calls where ids.contains(call.id) && call.size.map({ $0 <= size }) ?? true {
            if call.isFinished {
                remove(call)
            } else if call.phase == .recorded {
                seen.insert(Name(call.id))
            }
        }
    }

    /// Sends again what was recorded behind a size of the log that the server did not come to: it was restored
    /// to less, and knows a call that it had by its key.
    func sendAgain(above size: UInt64) {
        for (place, call) in calls.enumerated() where call.phase == .recorded {
            guard let recorded = call.size, recorded > size else { continue }
            calls[place].size = nil
            lift(place)
        }
    }

    /// Tries again what waits for somebody, and what waits for its time (row 8.1).
    ///
    /// `onlyPurchases`: of those only what hands transactions in.
    func retry(onlyPurchases: Bool = false) {
        // What could not be read at the start may be by now.
        if isStarted { load() }
        for (place, call) in calls.enumerated()
        where call.phase == .attention || call.phase == .waiting && call.notBefore != nil {
            if call.isHandingIn || !onlyPurchases { lift(place) }
        }
    }

    /// Lets a call be tried at once, as if it never was.
    private func lift(_ place: Int) {
        calls[place].phase = .waiting
        (calls[place].attempts, calls[place].notBefore) = (0, nil)
        write(calls[place].state)
    }

    /// Takes away restores that were refused as a whole, once their end is told: they hold all that an account
    /// has, and say nothing of any of it.
    func forgetRefused(_ ids: [String]) {
        for call in calls where call.isRefusedRestore && ids.holds(call.id) { remove(call) }
    }

    /// Takes a call away, unless it is gone: of a customer who was switched no file says anything (row CL5).
    func remove(_ call: QueuedCall) {
        guard let place = calls.firstIndex(where: { $0.id.isSame(as: call.id) }) else { return }
        spentLines += calls.remove(at: place).spentLines
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
        try puttingAside { () throws(ServiceError) in
            try storage.rewrite(.queue) { QueueFile.bytes(calls + others(in: $0)) }
        }
        (spentLines, isTorn) = (0, false)
    }

    /// What another program has put into the file, as it is now; nil: there is none.
    private func others(in file: [UInt8]?) -> [QueuedCall] {
        QueueFile(file ?? []).calls.filter { $0.customer == customer && !met.contains($0.id) }
    }

    /// Writes a change behind the others, or everything anew.
    func write(_ change: JSONValue) {
        do {
            if isTorn || spentLines > Self.spentLimit {
                try rewrite()
            } else {
                spentLines += change["op"]?.string == "state" ? 1 : 0
                try storage.append(DigestedLine.bytes(change), to: .queue)
            }
        } catch {
            isTorn = true
            notices.send(.cacheFailed(error))
        }
    }
}

/// Purchase flows.
extension SyncQueue {
    /// Names this program among those of one folder: the sheet of another may still be open.
    private static let program =
        (Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName) + "/"

    /// Writes what is told of a flow where the program ends before the flow does; nothing where another
    /// customer is signed in.
    ///
    /// Of this program's flows that ended so before it is told now: whoever begins another has no sheet open any
    /// more, and the server would shut it out (row 2.2).
    func begin(flow id: String, cutShort end: JSONValue, for owner: CustomerID) {
        guard owner == customer else { return }
        for call in calls where call.phase == .prepared && call.id.hasPrefix(Self.program) {
            remove(call)
            // Behind the flow's beginning, which may wait too.
            add(call.task)
        }
        var call = QueuedCall(
            id: Self.program + makeKey(),
            .flow(end, id: id),
            of: customer,
            verifiedAt: time.now()
        )
        call.phase = .prepared
        append(call)
    }

    /// Adds how a flow ended, in place of what was written of it when it began.
    func end(flow id: String, _ end: JSONValue, for owner: CustomerID) {
        guard owner == customer else { return }
        for call in calls where call.phase == .prepared && id.isSame(as: call.flowID) {
            remove(call)
        }
        add(.flow(end, id: id))
    }
}
