import EntitlementLedger
import Entitlements
import Logging
import NIOPosix
import Synchronization

/// Notes who saw or changed whom, behind the answers: nobody waits for the disk.
///
/// What cannot be written, because the disk is full say, or nobody leads a cluster, waits and is tried again, at the
/// latest when the server stops; where there is no room to wait nobody is let in.
final class AccessLog: Sendable {
    private let ledger: Ledger
    private let logger: Logger
    /// Records them, here or where the cluster is led.
    private let record: @Sendable ([CustomerAccess]) throws -> Void
    private let pool = NIOThreadPool(numberOfThreads: 1)
    private let state = Mutex(State())

    private struct State {
        var waiting: [CustomerAccess] = []
        var isWriting = false
        /// Whether what was tried last could not be written.
        var isHeldUp = false
    }

    /// Accesses that wait at most.
    static let limit = 10_000
    /// Accesses of one commit.
    private static let batchSize = 256
    /// How long it waits until it tries again.
    private static let pause = Duration.seconds(1)

    /// `record`: records them; nil: the ledger does.
    init(
        _ ledger: Ledger,
        _ logger: Logger,
        record: (@Sendable ([CustomerAccess]) throws -> Void)? = nil
    ) {
        self.ledger = ledger
        self.logger = logger
        self.record = record ?? { try ledger.appender.logAccess($0) }
        pool.start()
    }

    /// Whether one more access could be noted; a ledger that is only read notes none.
    var hasRoom: Bool { ledger.isReadOnly || state.withLock { $0.waiting.count < Self.limit } }

    /// Takes an access to be written.
    func add(_ access: CustomerAccess) {
        guard !ledger.isReadOnly else { return }
        let begins = state.withLock { state in
            state.waiting.append(access)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { submit() }
    }

    /// Has the thread write, as long as it has not ended.
    private func submit() {
        pool.submit { [self] state in
            if case .active = state { write() }
        }
    }

    /// Writes what waits, and ends the thread; nothing may be added any more.
    func stop() async throws {
        try await pool.shutdownGracefully()
        write()
        let lost = state.withLock { $0.waiting.count }
        guard lost > 0 else { return }
        logger.error("accesses to customers were not noted", metadata: ["count": "\(lost)"])
    }

    /// Writes batch by batch until nothing waits; one that fails is tried again a moment later.
    private func write() {
        while true {
            let batch = state.withLock { state in
                let batch = Array(state.waiting.prefix(Self.batchSize))
                if batch.isEmpty { state.isWriting = false }
                return batch
            }
            guard !batch.isEmpty else { return }
            do {
                try record(batch)
                state.withLock { state in
                    state.waiting.removeFirst(batch.count)
                    state.isHeldUp = false
                }
            } catch {
                tryAgain(after: error)
                return
            }
        }
    }

    private func tryAgain(after error: any Error) {
        let isFirst = state.withLock { state in
            defer { state.isHeldUp = true }
            return !state.isHeldUp
        }
        if isFirst {
            logger.error(
                "accesses to customers wait to be noted",
                metadata: ["fault": "\(type(of: error))"]
            )
        }
        Task {
            // Nobody cancels it.
            try? await Task.sleep(for: Self.pause)
            submit()
        }
    }
}
