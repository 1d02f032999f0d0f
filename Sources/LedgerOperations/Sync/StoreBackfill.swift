import EntitlementLedger
package import Entitlements
package import LedgerAPI

/// Asks the stores about everybody: first for what they sent in a stretch of time, then about each
/// purchase (rows 6.2, 8.1, 8.3, Z12).
///
/// What was appended stands, wherever it ends; repeating it appends only what is missing.
package struct StoreBackfill: Sendable {
    private let sync: StoreSync
    private let environment: StoreEnvironment
    private let told = ToldPurchases()

    /// Purchases that are asked about one after the other, and recorded together.
    private static let batchSize = 25
    /// Batches at once.
    private static let parallel = 8

    /// Names the environment that is asked about.
    package init(_ sync: StoreSync, in environment: StoreEnvironment) {
        self.sync = sync
        self.environment = environment
    }

    /// Asks.
    ///
    /// - Parameters:
    ///   - since: From when on; nil: from where the log is known to be complete, else as far back as the
    ///     stores tell.
    ///   - stream: The stream's number of the purchase with which to begin: where an earlier run ended.
    ///   - isInterrupted: Whether to end behind what is under way.
    ///   - progress: Told how many purchases are done of how many, and where another run would go on.
    /// - Returns: what the stores told, and which did not tell all.
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    package func run(
        since: Instant?,
        from stream: UInt64 = 0,
        isInterrupted: @Sendable () -> Bool,
        progress: (_ done: Int, _ total: Int, _ next: UInt64) throws -> Void
    ) async throws -> BackfillAnswer {
        var answer = BackfillAnswer(environment: environment, at: sync.clock())
        let signals = SignalBackfill(sync, in: environment)
        answer.sources = try await signals.run(since: since, isInterrupted: isInterrupted)
        let (ledger, environment) = (sync.ledger, environment)
        let streams = try await sync.pool.run {
            try ledger.questions.purchaseStreams(in: environment).filter { $0 >= stream }
        }
        let stride = Self.batchSize * Self.parallel
        for first in Swift.stride(from: 0, to: streams.count, by: stride) {
            if isInterrupted() { break }
            let group = streams[first..<min(first + stride, streams.count)]
            answer.count(try await self.group(Array(group)))
            let done = first + group.count
            try progress(done, streams.count, done < streams.count ? streams[done] : 0)
        }
        answer.sequence = try await sync.pool.run { try ledger.questions.size() }
        return answer
    }

    /// Asks about purchases that are named one by one, which the ledger need not know.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    package func run(
        about purchases: [PurchaseName],
        isInterrupted: @Sendable () -> Bool,
        progress: (_ done: Int, _ total: Int) -> Void
    ) async throws -> BackfillAnswer {
        var answer = BackfillAnswer(environment: environment, at: sync.clock())
        let stride = Self.batchSize * Self.parallel
        for first in Swift.stride(from: 0, to: purchases.count, by: stride) {
            if isInterrupted() { break }
            let end = min(first + stride, purchases.count)
            answer.count(try await ask(about: Array(purchases[first..<end])))
            progress(end, purchases.count)
        }
        let ledger = sync.ledger
        answer.sequence = try await sync.pool.run { try ledger.questions.size() }
        return answer
    }

    private func group(_ streams: [UInt64]) async throws -> [SyncedPurchase] {
        let ledger = sync.ledger
        let names = try await sync.pool.run {
            try streams.compactMap { try ledger.questions.purchaseName(ofStream: $0) }
        }
        return try await ask(about: names)
    }

    private func ask(about names: [PurchaseName]) async throws -> [SyncedPurchase] {
        let (sync, environment, told) = (sync, environment, told)
        return try await withThrowingTaskGroup(of: [SyncedPurchase].self) { tasks in
            for first in stride(from: 0, to: names.count, by: Self.batchSize) {
                let batch = Array(names[first..<min(first + Self.batchSize, names.count)])
                tasks.addTask { try await sync.sync(batch, in: environment, told: told) }
            }
            return try await tasks.reduce(into: []) { $0 += $1 }
        }
    }
}
