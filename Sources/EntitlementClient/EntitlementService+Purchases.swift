import Encodings
import Entitlements
public import LedgerAPI

/// Buying and restoring.
extension EntitlementService {
    /// What is on sale, of some ids.
    ///
    /// Where the store does not say it, what it said last is given, each product with when that was
    /// (``SoldProduct/asOf``, row 1.4); a purchase asks the store anew in any case.
    ///
    /// - Throws: `ServiceError`; `PRODUCT_UNAVAILABLE` where nothing is sold here; what the store says where
    ///   nothing of it is kept.
    public func products(for ids: [String]) async throws(ServiceError) -> [SoldProduct] {
        guard let purchases else { throw ServiceError(.productUnavailable) }
        do throws(ServiceError) {
            let sold = try await purchases.products(for: ids)
            productCache.keep(sold, of: ids, at: configuration.time.now())
            return sold
        } catch {
            let kept = productCache.products().filter { ids.holds($0.id) }
            // That it is not on sale the store has said.
            guard !kept.isEmpty, error.code != .productUnavailable else { throw error }
            announcements.send(.productsKept(error))
            return kept
        }
    }

    /// Begins a purchase, one at a time for a customer (rows 2.1, 2.2).
    ///
    /// `experiment`: what led to it, as `EXPERIMENT/VARIANT`, or `EXPERIMENT` alone; all that is told of the flow
    /// names it, so that the server's report has who saw it and who bought (row B7). `confirm`: asks the
    /// customer whether it is meant; the store is asked only then. The returned flow tells how far it is.
    public func purchase(
        _ productID: String,
        experiment: String? = nil,
        confirm: @escaping @Sendable () async -> Bool
    ) -> PurchaseFlow {
        let time = configuration.time
        let log = FlowLog(
            id: "flow-" + String(time.random(), radix: 16),
            productID: productID,
            experiment: experiment,
            now: time.now
        )
        let flow = PurchaseFlow(log)
        guard let purchases else {
            log.note(.failed(ServiceError(.productUnavailable)))
            return flow
        }
        guard let customer = store.customer else {
            log.note(.failed(ServiceError(.unknown, reason: .signedOut)))
            return flow
        }
        guard self.flow == nil else {
            log.note(.failed(ServiceError(.storeProblem, isRetryable: true)))
            return flow
        }
        self.flow = log
        Task { await self.run(log, purchases, customer, confirm) }
        return flow
    }

    private func run(
        _ log: FlowLog,
        _ purchases: any PurchaseServicing,
        _ customer: CustomerID,
        _ confirm: @Sendable () async -> Bool
    ) async {
        log.note(.confirming)
        let end: PurchaseFlow.State =
            await confirm() ? await confirmed(log, purchases, customer) : .cancelled
        // The next may begin before anybody is told of this one's end.
        if flow === log { flow = nil }
        log.note(end)
        await queue.end(flow: log.id, Self.body(end, log), for: customer)
        await queue.send()
    }

    private func confirmed(
        _ log: FlowLog,
        _ purchases: any PurchaseServicing,
        _ customer: CustomerID
    ) async -> PurchaseFlow.State {
        let cancelled = PurchaseFlow.State.failed(ServiceError(.cancelled))
        // Written first: should the program end while the sheet is open, this is told of it.
        await queue.begin(flow: log.id, cutShort: Self.body(cancelled, log), for: customer)
        guard !isOver(log, customer) else { return cancelled }
        if let error = await lockedOut(log, customer) { return .failed(error) }
        // They signed out while the server was asked.
        guard !isOver(log, customer) else { return cancelled }
        return await buy(log, purchases, customer)
    }

    /// Whether its customer was switched since a flow began: it was told as cancelled, and whoever was told so
    /// is not charged (row CL5).
    private func isOver(_ log: FlowLog, _ customer: CustomerID) -> Bool {
        flow !== log || store.customer != customer
    }

    /// Tells the server that a flow begins; why it may not, where another runs (row 2.2).
    ///
    /// A server that is not reached is told later. `isFirst`: whether it is asked for the first time.
    private func lockedOut(
        _ log: FlowLog,
        _ customer: CustomerID,
        isFirst: Bool = true
    ) async -> ServiceError? {
        let (body, key) = (JSONValue.object(Self.body("started", log)), log.id + "-started")
        let path = QueuedCall.flowPath(in: configuration.environment)
        let result = await connection.call(
            .post,
            ServerConnection.path(path, of: customer),
            headers: ["Idempotency-Key": key],
            body: Array(body.description.utf8)
        )
        guard case .failure(let fault) = result else { return nil }
        if fault.code == ProblemCode.purchaseInProgress.rawValue {
            // The flow that runs may be this device's last one, whose end waits, or was told meanwhile.
            guard isFirst else { return fault.error }
            await queue.retry()
            await queue.send()
            return await lockedOut(log, customer, isFirst: false)
        }
        if fault.verdict != .never {
            await queue.add(.flow(body, id: log.id), for: customer, key: key)
        }
        return nil
    }

    private func buy(
        _ log: FlowLog,
        _ purchases: any PurchaseServicing,
        _ customer: CustomerID
    ) async -> PurchaseFlow.State {
        log.note(.inStore)
        switch await purchases.purchase(log.productID, for: customer) {
        case .userCancelled: return .cancelled
        case .pending: return .pending
        case .failed(let error): return .failed(error)
        case .success(let transaction):
            log.note(.verifying)
            // Its library verified it before it said so: what follows is what recording takes (row 10.3).
            log.note(.recording)
            // Somebody else is signed in by now: what was bought is not theirs, and not finished.
            guard let id = await queue.add(.claim(transaction), for: customer) else {
                return .failed(ServiceError(.cancelled))
            }
            await openProvisionally()
            await queue.send()
            if let instant = await queue.recordedAt(id) { log.noteRecorded(at: instant) }
            await askServer()
            let end = await end(of: id)
            let size = await queue.calls.first { $0.id.isSame(as: id) }?.size
            let known = store.current
            // An answer that has seen it tells what it is by now.
            guard end == .done(isRecorded: true), store.customer == customer,
                size.map({ $0 <= known.sequence }) ?? true, known.isTakenBack(transaction)
            else { return end }
            return .failed(ServiceError(.purchaseInvalid, reason: .revoked))
        }
    }

    /// What became of a claim.
    private func end(of id: String) async -> PurchaseFlow.State {
        let call = await queue.calls.first { $0.id.isSame(as: id) }
        switch call?.phase {
        case nil, .recorded?: return .done(isRecorded: true)
        case .waiting?, .attention?, .prepared?: return .done(isRecorded: false)
        case .refused?: return .failed(call?.refusal ?? ServiceError(.verificationFailed))
        }
    }

    /// Hands in everything that the store's account holds (rows 6.1 to 6.6).
    ///
    /// `progress`: told each stage as it begins, so that people see that work is under way (row 6.5).
    /// - Throws: `ServiceError`: `PRODUCT_UNAVAILABLE` where nothing is sold here; what the store says where it
    ///   does not tell what is held (row 6.6); `CANCELLED` where another customer is signed in meanwhile.
    public func restore(
        progress: @Sendable (RestoreStage) -> Void = { _ in }
    ) async throws(ServiceError) -> RestoreResult {
        guard let purchases else { throw ServiceError(.productUnavailable) }
        guard let customer = store.customer else {
            throw ServiceError(.unknown, reason: .signedOut)
        }
        progress(.askingStore)
        let held = try await purchases.currentEntitlements()
        guard !held.isEmpty else { return .nothing }
        progress(.recording(held.count))
        let parts = Self.parts(of: held)
        var ids: [String] = []
        for part in parts {
            guard let id = await queue.add(.restore(part), for: customer) else {
                throw ServiceError(.cancelled)
            }
            ids.append(id)
        }
        await openProvisionally()
        await sync()
        // What waited went with whoever signed out: nothing is known of it.
        guard store.customer == customer else { throw ServiceError(.cancelled) }
        var (restored, waiting) = (0, 0)
        var refusal: ServiceError?
        for (id, part) in zip(ids, parts) {
            switch await end(of: id) {
            case .failed(let error): refusal = refusal ?? error
            case .done(isRecorded: true):
                // Gone without it: its customer signed out, and in again.
                guard let told = await queue.restored[id] else { throw ServiceError(.cancelled) }
                restored += told.count
                for claim in told.later {
                    switch await end(of: claim) {
                    case .done(isRecorded: true): restored += 1
                    case .done(isRecorded: false): waiting += 1
                    // That it was refused for good is told as a notice.
                    default: break
                    }
                }
            default: waiting += part.count
            }
        }
        await queue.forgetRefused(ids)
        if let refusal { throw refusal }
        return waiting > 0 ? .waiting(waiting) : .restored(restored)
    }

    /// Transactions that a server takes at once.
    private static let partLimit = 500
    /// Bytes of what is signed in them: less than the 4 MiB of a whole call.
    private static let partByteLimit = 3 << 20

    /// What an account holds in parts that a server takes, each by a call of its own.
    private static func parts(of held: [StoreTransaction]) -> [[StoreTransaction]] {
        var parts: [[StoreTransaction]] = []
        var byteCount = 0
        for transaction in held {
            let size = transaction.signed.utf8.count
            byteCount += size
            if let count = parts.last?.count, count < partLimit, byteCount <= partByteLimit {
                parts[parts.count - 1].append(transaction)
            } else {
                parts.append([transaction])
                byteCount = size
            }
        }
        return parts
    }
}

/// How far a restore is (row 6.5).
public enum RestoreStage: Sendable, Hashable {
    /// The store is asked what its account holds.
    case askingStore
    /// So many transactions are handed in, and the server is asked what they open.
    case recording(Int)
}

/// What came of a restore.
public enum RestoreResult: Sendable, Hashable {
    /// There is nothing to restore, which is said plainly (row 6.4).
    case nothing
    /// So many transactions the server has recorded, or knew; what it refused is told as a notice.
    case restored(Int)
    /// So many wait for the server: it is not reached, or does not take them now.
    case waiting(Int)
}

/// What the server is told of a flow (rows 10.1, 10.3).
extension EntitlementService {
    private static func body(_ type: String, _ log: FlowLog) -> [JSONMember] {
        let experiment = log.experiment.map { JSONMember("experiment", .string($0)) }
        return QueuedCall.flowBody(type, log.id)
            + [JSONMember("productId", .string(log.productID)), experiment].compactMap(\.self)
    }

    private static func body(_ end: PurchaseFlow.State, _ log: FlowLog) -> JSONValue {
        var members: [JSONMember]
        switch end {
        case .cancelled: members = body("cancelled", log)
        case .pending: members = body("pending", log)
        case .failed(let error):
            members = body("failed", log)
            members.append(JSONMember("errorCode", .string(error.code.rawValue)))
        case .confirming, .inStore, .verifying, .recording, .done: members = body("succeeded", log)
        }
        let stages = log.stages.map { JSONMember($0.name, .integer($0.milliseconds)) }
        if !stages.isEmpty { members.append(JSONMember("stages", .object(stages))) }
        return .object(members)
    }
}
