import Dispatch
package import EventLog
import LMDB
import Synchronization

/// New streams become durable with the log's commit; the vault takes them over behind, so that a key
/// stands in two places but for that moment (Storage, "Append").
extension LMDBVault {
    /// How long streams wait before they are taken over together.
    private static let delay = DispatchTimeInterval.milliseconds(400)
    /// Where so many wait, whoever adds more takes them over first.
    private static let takeOverThreshold = NewStream.waitingLimit / 2

    // MARK: The log's commit

    /// See `Vault`.
    package func commit<Outcome: Sendable>(
        upTo counter: UInt64,
        _ body: ([NewStream]) throws -> Outcome
    ) throws -> Outcome {
        guard state.withLock({ !$0.reserved(upTo: counter).isEmpty }) else { return try body([]) }
        return try turn.withLock { turn in
            try settleDoubt(turn)
            // A name that is free again is not given anew before the stream that had it is gone.
            if let erasure = turn.erasure,
                state.withLock({ $0.closed.isSuperset(of: erasure.streams) })
            {
                try destroyKeys(&turn)
            }
            // Keys that this vault could not take over later are not given.
            try files?.check()
            try makeRoom()
            let items = try sealed(upTo: counter, &turn)
            turn.isInDoubt = true
            let outcome = try body(items.map { NewStream(stream: $0.stream, bytes: $0.bytes) })
            turn.isInDoubt = false
            state.withLock { $0.settle(items) }
            followBehind()
            return outcome
        }
    }

    /// Seals reserved streams as they are to stand, in the log and then here.
    private func sealed(
        upTo counter: UInt64,
        _ turn: inout Turn
    ) throws -> [WaitingStreams.Item] {
        let epochs = epochs
        let reserved = state.withLock { Array($0.reserved(upTo: counter)) }
        var items: [WaitingStreams.Item] = []
        items.reserveCapacity(reserved.count)
        for var entry in reserved {
            let shard = StreamNumber.shard(of: entry.stream)
            entry.digest = epochs.digest(of: entry.name, shard: shard)
            let bytes = try entry.sealed(
                under: epochs.shards[shard],
                using: &turn.randomness
            )
            items.append(.init(stream: entry.stream, bytes: bytes, entry: entry))
        }
        return items
    }

    /// Where a commit failed whose outcome was not known, looks which of the reserved streams stand.
    ///
    /// The doubt stays: a cluster's leader may have the batch in its own log only after a renewal. The next
    /// commit ends it, which looks again.
    private func settleDoubt(_ turn: Turn) throws {
        guard turn.isInDoubt else { return }
        if let first = state.withLock({ $0.reserved.first?.stream }) {
            let items = try Self.items(log.newStreams(from: first), epochs)
            state.withLock { $0.settle(items) }
        }
    }

    /// Refuses what comes faster than the vault takes it over.
    private func makeRoom() throws {
        func waiting() -> Int { state.withLock { $0.waiting.count } }
        guard waiting() >= Self.takeOverThreshold else { return }
        do {
            try takeOver()
        } catch {
            guard waiting() < NewStream.waitingLimit else {
                throw LogStorageFault(.full, "the vault takes no new streams, and too many wait")
            }
        }
    }

    // MARK: Taking over

    /// What stands in the log of a ledger that is opened for writing.
    static func waiting(
        in log: LMDBLog,
        beside streams: Table,
        of environment: LMDB.Environment,
        _ epochs: EpochKeys
    ) throws -> [WaitingStreams.Item] {
        let new = try log.newStreams(from: 0)
        guard !new.isEmpty else { return [] }
        return try mappingFaults {
            try environment.read { transaction in
                try new.flatMap { new -> [WaitingStreams.Item] in
                    guard try transaction.contains(streams, Key(new.stream)) else {
                        return try items([new], epochs)
                    }
                    return [.init(stream: new.stream, bytes: new.bytes, entry: nil)]
                }
            }
        }
    }

    static func items(
        _ new: [NewStream],
        _ epochs: EpochKeys
    ) throws -> [WaitingStreams.Item] {
        try mappingFaults {
            try new.map { new in
                // Made and erased while this machine was away (row 9.5).
                if try VaultEntry.isTombstone(new.bytes.span, of: new.stream) {
                    return .init(stream: new.stream, bytes: new.bytes, entry: nil, isErased: true)
                }
                let entry = try VaultEntry(opening: new.bytes.span, epochKeys: epochs)
                guard let entry, entry.stream == new.stream else {
                    throw LogStorageFault(.damaged, "a new stream of the log does not open")
                }
                return .init(stream: new.stream, bytes: new.bytes, entry: entry)
            }
        }
    }

    /// See `Vault`.
    package func drawIn() throws {
        guard !isReadOnly else { return try log.awaitTakeOver() }
        try turn.withLock { try drawIn(&$0) }
    }

    /// Nothing is new afterwards: whoever holds the turn finds every key here, and only here.
    func drawIn(_ turn: inout Turn) throws {
        try settleDoubt(turn)
        try takeOver()
        try log.removeTakenOver()
        guard let left = try log.newStreamRange() else { return }
        // A batch of another machine's that was appended at the second attempt: taken over before.
        guard try holds(left) else {
            throw LogStorageFault(.damaged, "the log holds new streams that nobody added")
        }
        log.tookOver(upTo: left.upperBound)
        try log.removeTakenOver()
    }

    /// Whether all streams that are new in the log stand here.
    private func holds(_ range: ClosedRange<UInt64>) throws -> Bool {
        let new = try log.newStreams(from: range.lowerBound)
        return try mappingFaults {
            try environment.read { transaction in
                try new.allSatisfy { try transaction.contains(streams, Key($0.stream)) }
            }
        }
    }

    /// Commits what waits, then syncs it in the journal, then tells the log.
    ///
    /// Whatever stops it, what was not told to the log is taken over again.
    func takeOver() throws {
        try writer.withLock { writer in
            let items = state.withLock { $0.waiting.items }
            guard let last = items.last else { return }
            guard let journal = writer.journal else {
                throw LogStorageFault(.unreadable, "the vault is closed")
            }
            try files?.check()
            try journal.append(mappingFaults { try put(items) })
            try journal.sync()
            names.add(items.compactMap(\.entry))
            state.withLock { $0.forgetWaiting(items.count) }
            log.tookOver(upTo: last.stream)
        }
    }

    /// - Returns: each stream as it stands here: what was here counts.
    private func put(_ items: [WaitingStreams.Item]) throws -> [[UInt8]] {
        try environment.write(growingBy: MapSize.growth) { transaction in
            let last = try transaction.last(streams) { key, _ in
                key.count == 8 ? key.loadUInt64BigEndian(at: 0) : .max
            }
            return try items.map { item in
                let key = Key(item.stream)
                guard let last, item.stream <= last else {
                    try transaction.append(streams, key, item.bytes.span)
                    return item.bytes
                }
                if let standing = try transaction.get(streams, key, { $0.copy() }) {
                    return standing
                }
                try transaction.put(streams, key, item.bytes.span)
                return item.bytes
            }
        }
    }

    // MARK: Behind

    /// Looks a moment later what is to be taken over, and again until nothing is.
    func followBehind() {
        let begins = state.withLock { state in
            defer { state.isFollowing = true }
            return !state.isFollowing
        }
        if begins { lookLater() }
    }

    private func lookLater() {
        following.asyncAfter(deadline: .now() + Self.delay) { [weak self] in self?.look() }
    }

    private func look() {
        let waits = state.withLock { !$0.waiting.isEmpty }
        if waits {
            // What a disk does not take now is tried again.
            try? takeOver()
        } else {
            // Nobody has committed since; the next commit removes what this one does not.
            try? log.removeTakenOver()
        }
        let goesOn = state.withLock { state in
            state.isFollowing =
                !state.isClosed && (!state.waiting.isEmpty || waits && log.holdsTakenOver)
            return state.isFollowing
        }
        if goesOn { lookLater() }
    }
}
