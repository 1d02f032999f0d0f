import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import LedgerOperations
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Tells webhooks what happens: notices it as the log grows and as time goes on, and has it delivered by a
/// worker for each (row Z19).
struct WebhookSender: Service {
    let service: LedgerService
    let webhooks: Webhooks

    /// The workers that run, by the ids of their webhooks.
    private final class Workers: Sendable {
        private let wakes = Mutex<[Name: AsyncStream<Void>.Continuation]>([:])

        /// A place for a worker; nil: one runs already.
        func begin(_ id: Name) -> AsyncStream<Void>? {
            let (stream, continuation) = AsyncStream.makeStream(
                of: Void.self,
                bufferingPolicy: .bufferingNewest(1)
            )
            return wakes.withLock { wakes in
                guard wakes[id] == nil else { return nil }
                wakes[id] = continuation
                return stream
            }
        }

        func end(_ id: Name) { wakes.withLock { _ = $0.removeValue(forKey: id) } }

        func wake() { wakes.withLock { wakes in for wake in wakes.values { wake.yield() } } }

        func stop() { wakes.withLock { wakes in for wake in wakes.values { wake.finish() } } }
    }

    /// Runs until the server is told to stop; what is under way then is sent again later.
    ///
    /// On a machine of a cluster it tells while that one leads, and else copies what the leader holds in common
    /// with all.
    func run() async throws {
        guard let share = webhooks.share else { return await tell() }
        let sharing = Sharing(share: share, pool: NIOThreadPool(numberOfThreads: 1))
        sharing.pool.start()
        repeat {
            if await takesUp(sharing) {
                await tell(sharing)
                handOver()
            }
        } while await Self.leaderLook.passes()
        do {
            try await sharing.pool.shutdownGracefully()
        } catch {
            note(error)
        }
    }

    /// What a cluster's machines hold in common, on a thread of its own: where the database hangs, nobody else
    /// waits.
    private struct Sharing: Sendable {
        let share: DeliveryShare
        let pool: NIOThreadPool

        func blocking<Result: Sendable>(
            _ body: @escaping @Sendable (DeliveryShare) throws -> Result
        ) async throws -> Result {
            try await pool.runIfActive { [share] in try body(share) }
        }
    }

    /// How long until it is looked again whether this machine leads.
    private static let leaderLook = Duration.milliseconds(500)

    /// Whether this machine leads, and has what the one before it left.
    private func takesUp(_ sharing: Sharing) async -> Bool {
        do {
            let isLeading = try await sharing.blocking { [cluster = service.cluster] share in
                guard let term = cluster?.leadingTerm else {
                    try share.follow()
                    return false
                }
                try share.lead(in: term)
                return true
            }
            if !isLeading { handOver() }
            return isLeading
        } catch {
            note(error)
            return false
        }
    }

    /// Tells as long as this machine leads.
    private func tell(_ sharing: Sharing) async {
        service.alerts.takeUp()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await tell() }
            group.addTask { await keepSharing(sharing) }
            await group.next()
            group.cancelAll()
        }
        do {
            try await sharing.blocking { try $0.leave() }
        } catch {
            // Whoever leads next tells again what is not written.
            note(error)
        }
        // What stood by this machine's looks is over, or told, by who leads next.
        service.alerts.takeUp()
    }

    /// Says nothing of deliveries any more: who leads does.
    private func handOver() {
        service.jobs.handOver(.webhooks)
        service.metrics.webhooks.set(waiting: 0, dead: 0, behind: 0)
    }

    /// Writes what changes, for who leads next, until this machine leads no more or the server stops.
    private func keepSharing(_ sharing: Sharing) async {
        let share = sharing.share
        while service.leads, share.isLeading, await share.pause.passes() {
            do {
                try await sharing.blocking { try $0.share() }
            } catch {
                // What is not written is written with the next change.
                note(error)
            }
        }
    }

    /// Notes a fault of one's own: that another machine leads, or the cluster's database is away, is none.
    private func note(_ error: any Error) {
        if error is CancellationError { return }
        if let fault = error as? JournalFault, [.unavailable, .notSynchronous].contains(fault.code)
        {
            return
        }
        if let fault = error as? LogStorageFault, fault.code == .noLeader { return }
        service.jobs.end(.webhooks, isDone: false)
        service.faults.note(error, of: JobBoard.Job.webhooks.rawValue)
    }

    /// Tells until the server is told to stop, or the task is cancelled.
    private func tell() async {
        let workers = Workers()
        let (looks, wake) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        var (counted, woken) = (ContinuousClock.now - Self.countInterval, ContinuousClock.now)
        await withDiscardingTaskGroup { group in
            group.addTask {
                // Of each growth, and every second: the command changes webhooks too.
                for await _ in service.growth.follow().cancelOnGracefulShutdown() { wake.yield() }
                wake.finish()
            }
            for await _ in looks.cancelOnGracefulShutdown() {
                if Task.isCancelled { break }
                // What waits is sent while what is new is looked at.
                await begin(workers, &group)
                if let wait = await look(workers, &woken) {
                    // What time changes is told at its instant.
                    group.addTask { if await wait.passes() { wake.yield() } }
                }
                await count(&counted)
            }
            workers.stop()
        }
    }

    /// Begins a worker for each who is told and has none.
    private func begin(_ workers: Workers, _ group: inout DiscardingTaskGroup) async {
        for id in await ids() {
            guard let wakes = workers.begin(Name(id)) else { continue }
            let worker = WebhookWorker(
                service: service,
                webhooks: webhooks,
                id: id,
                wakes: wakes
            )
            group.addTask {
                await cancelWhenGracefulShutdown { await worker.run() }
                workers.end(Name(id))
            }
        }
    }

    /// Looks at all that is new, and wakes the workers when something was noticed, and every second: what
    /// waits costs a look at each.
    ///
    /// - Returns: how long it is until time changes something; nil: a second at least.
    private func look(
        _ workers: Workers,
        _ woken: inout ContinuousClock.Instant
    ) async -> Duration? {
        do {
            let (told, isBelieved) = try await service.blocking { [service] in
                try service.believedNow()
            }
            while true {
                let (step, hasNoticed) = try await service.blocking { [webhooks] in
                    let next = try webhooks.nextNotice()
                    let step = try NoticeMaker(webhooks).step(at: told)
                    return (step, try webhooks.nextNotice() != next)
                }
                if hasNoticed || woken.duration(to: .now) >= .milliseconds(Self.beat) {
                    workers.wake()
                    woken = .now
                }
                guard step == .goesOn else { break }
                if Task.isShuttingDownGracefully || Task.isCancelled { break }
            }
            service.jobs.end(.webhooks, isDone: true)
            // Nothing is due at an instant that does not come.
            guard isBelieved else { return nil }
            let now = service.clock()
            return try await service.blocking { [webhooks] in
                try webhooks.nextLook(within: Self.beat, from: now).map { .milliseconds($0) }
            }
        } catch {
            if Task.isShuttingDownGracefully || Task.isCancelled { return nil }
            service.jobs.end(.webhooks, isDone: false)
            service.faults.note(error, of: JobBoard.Job.webhooks.rawValue)
            return nil
        }
    }

    /// Milliseconds after which it is looked anyway.
    private static let beat: Int64 = 1000

    /// Those who are told of something.
    private func ids() async -> [String] {
        do {
            return try await service.blocking { [webhooks] in try webhooks.enabledIDs() }
        } catch {
            service.faults.note(error, of: JobBoard.Job.webhooks.rawValue)
            return []
        }
    }

    /// Counts what waits for all of them, now and then.
    private func count(_ counted: inout ContinuousClock.Instant) async {
        guard counted.duration(to: .now) >= Self.countInterval else { return }
        counted = .now
        // What cannot be read is told of by those who deliver it.
        guard let all = try? await service.blocking({ [webhooks] in try webhooks.all() }) else {
            return
        }
        service.metrics.webhooks.set(
            waiting: all.reduce(0) { $0 + ($1.waiting ?? 0) },
            dead: all.reduce(0) { $0 + ($1.dead ?? 0) },
            behind: all.compactMap(\.behind).max() ?? 0
        )
    }

    private static let countInterval = Duration.seconds(5)
}

extension LedgerService {
    /// The instant up to which time has passed for those who are told, and whether that is the clock's.
    ///
    /// By a clock that is not believed (T3) it stands where the last event was recorded: what is recorded is
    /// told, and nothing that is still to come.
    ///
    /// - Throws: `LogStorageFault`.
    fileprivate func believedNow() throws -> (instant: Instant, isBelieved: Bool) {
        let now = clock()
        do {
            try ledger.appender.requireClock()
            return (now, true)
        } catch let fault as LedgerFault where [.clockAhead, .clockBehind].contains(fault.code) {
            return (min(now, try ledger.questions.lastRecordedAt() ?? now), false)
        }
    }
}
