import EntitlementLedger
package import Entitlements
package import LedgerAPI

/// Asks the stores about everybody: first for what they sent in a stretch of time, then about each
/// purchase (rows 6.2, 8.1, 8.3, Z12).
///
/// What was appended stands, wherever it ends; repeating it appends only what is missing. It ends where a
/// store wants no more questions for now, rather than to go past the purchases that are left.
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
    ///   - progress: Told how many purchases are done of how many, and where another run would go on: behind all of
    ///     them, where only what the stores sent is to be asked for again.
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
        let isListHeldUp = answer.sources.contains { $0.code?.holdsUpAll == true }
        let end: UInt64 = isListHeldUp ? .max : 0
        let (ledger, environment) = (sync.ledger, environment)
        let streams = try await sync.pool.run {
            try ledger.questions.purchaseStreams(in: environment).filter { $0 >= stream }
        }
        try await inGroups(streams, of: &answer, isInterrupted) { group, done in
            let names = try await sync.pool.run {
                try group.compactMap { try ledger.questions.purchaseName(ofStream: $0) }
            }
            let asked = try await ask(about: names)
            // Where it goes on is behind those that were told of; of whom nobody waits for nothing was heard.
            guard !asked.isHeldUp, !Task.isCancelled else { return asked }
            try progress(done, streams.count, done < streams.count ? streams[done] : end)
            return asked
        }
        // An earlier run had asked about all of them, and the stores told what they sent by now.
        if streams.isEmpty, !isListHeldUp, !isInterrupted() { try progress(0, 0, end) }
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
        try await inGroups(purchases, of: &answer, isInterrupted) { group, done in
            let asked = try await ask(about: group)
            progress(done, purchases.count)
            return asked
        }
        let ledger = sync.ledger
        answer.sequence = try await sync.pool.run { try ledger.questions.size() }
        return answer
    }

    /// Asks about one group after the other, and counts what came of it.
    ///
    /// `done`: how many there are with those of the group.
    private func inGroups<Item>(
        _ items: [Item],
        of answer: inout BackfillAnswer,
        _ isInterrupted: @Sendable () -> Bool,
        _ ask: (_ group: [Item], _ done: Int) async throws -> [SyncedPurchase]
    ) async throws {
        answer.remaining = items.count
        for first in stride(from: 0, to: items.count, by: Self.batchSize * Self.parallel) {
            if isInterrupted() { return }
            let group = items[first...].prefix(Self.batchSize * Self.parallel)
            let asked = try await ask(Array(group), group.endIndex)
            answer.count(asked)
            if Task.isCancelled { return }
            answer.remaining = items.count - group.endIndex
            if asked.isHeldUp { return }
        }
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

extension [SyncedPurchase] {
    /// Whether a store wants no more questions for now.
    fileprivate var isHeldUp: Bool { contains { $0.code?.holdsUpAll == true } }
}
