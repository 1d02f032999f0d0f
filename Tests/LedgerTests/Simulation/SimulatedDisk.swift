import EventLog
import Synchronization

/// The process died here: nothing of what it held in memory is left.
struct SimulatedCrash: Error {}

/// What outlives the processes of one simulation: the committed batches and the vault's entries.
///
/// Every call that an engine makes to its storage passes through here, so that a schedule decides
/// what happens at it. One thread; a simulation shares nothing with another.
final class SimulatedDisk: Sendable {
    private let state: Mutex<State>
    let defect: SimulatedDefect?

    private struct State {
        var log = MemoryLog()
        var batches: [LogBatch] = []
        var vault: [UInt64: SimulatedVault.Entry] = [:]
        /// Counts up with each process and each death; the calls of a dead one crash.
        var process = 0
        /// The process that was started last.
        var started = 0
        var fault: SimulatedFault?
        var onCall: (@Sendable (SimulatedCall) throws -> Void)?
    }

    init(defect: SimulatedDefect?) {
        self.defect = defect
        state = Mutex(State())
    }

    /// Lends every call to a schedule before it is carried out.
    func onCall(_ body: (@Sendable (SimulatedCall) throws -> Void)?) {
        state.withLock { $0.onCall = body }
    }

    /// What the next commit of the vault or the log meets.
    func arm(_ fault: SimulatedFault?) { state.withLock { $0.fault = fault } }

    /// Whether a fault waits for its commit.
    var isArmed: Bool { state.withLock { $0.fault != nil } }

    // MARK: Processes

    /// A new process: what an earlier one still does is no longer heard.
    func startProcess() -> Int {
        state.withLock { state in
            state.process += 1
            state.started = state.process
            return state.process
        }
    }

    /// Whether the process that was started last has died.
    var isDown: Bool { state.withLock { $0.process != $0.started } }

    /// The process dies.
    func crash() {
        state.withLock { state in
            state.process += 1
            state.fault = nil
            guard defect == .losesLastCommit, !state.batches.isEmpty else { return }
            state.batches.removeLast()
            state.log = MemoryLog()
            for batch in state.batches { _ = try? state.log.append(batch) }
        }
    }

    func isAlive(_ process: Int) -> Bool { state.withLock { $0.process == process } }

    /// Before each call of a process.
    func enter(_ call: SimulatedCall, _ process: Int) throws {
        guard isAlive(process) else { throw SimulatedCrash() }
        try state.withLock { $0.onCall }?(call)
        guard isAlive(process) else { throw SimulatedCrash() }
    }

    // MARK: Log

    var log: MemoryLog { state.withLock { $0.log } }

    /// A commit of the log, with the fault that waits for it.
    func append(_ batch: LogBatch, _ process: Int) throws -> LogEnd {
        switch takeFault(of: [.logFull, .logUnknownGone, .logUnknownStands, .logCrash, .logCrashed])
        {
        case .logFull: throw LogStorageFault(.full, "no room")
        case .logUnknownGone: throw LogStorageFault(.outcomeUnknown, "the commit failed")
        case .logUnknownStands:
            _ = try commit(batch)
            throw LogStorageFault(.outcomeUnknown, "the commit failed")
        case .logCrash:
            if defect == .tearsGroups, batch.records.count > 1 { _ = try commit(batch.torn) }
            crash()
            throw SimulatedCrash()
        case .logCrashed:
            _ = try commit(batch)
            crash()
            throw SimulatedCrash()
        default: return try commit(batch)
        }
    }

    private func commit(_ batch: LogBatch) throws -> LogEnd {
        var batch = batch
        if defect == .forgetsKeys { batch.newStreams = [] }
        return try state.withLock { [batch] state in
            state.batches.append(batch)
            return try state.log.append(batch)
        }
    }

    // MARK: Vault

    var vault: [UInt64: SimulatedVault.Entry] { state.withLock { $0.vault } }

    /// A commit of the vault, with the fault that waits for it.
    func commit(_ entries: [SimulatedVault.Entry]) throws {
        switch takeFault(of: [.vaultFull, .vaultCrash, .vaultCrashed]) {
        case .vaultFull: throw LogStorageFault(.full, "no room")
        case .vaultCrash:
            crash()
            throw SimulatedCrash()
        case .vaultCrashed:
            keep(entries)
            crash()
            throw SimulatedCrash()
        default: keep(entries)
        }
    }

    private func keep(_ entries: [SimulatedVault.Entry]) {
        state.withLock { state in
            // What the vault has counts.
            for entry in entries where state.vault[entry.stream] == nil {
                state.vault[entry.stream] = entry
            }
        }
    }

    private func takeFault(of kinds: [SimulatedFault]) -> SimulatedFault? {
        state.withLock { state in
            guard let fault = state.fault, kinds.contains(fault) else { return nil }
            state.fault = nil
            return fault
        }
    }
}

/// A call of the engine to its storage.
enum SimulatedCall: Sendable {
    /// It reads records or names: others may come between.
    case read
    /// The vault takes over keys.
    case commitVault
    /// It commits records.
    case commitLog
}

/// What a commit may meet.
enum SimulatedFault: Sendable, CaseIterable {
    /// Nothing stands, and the engine is told.
    case logFull, vaultFull
    /// Nobody is told whether it stands; it does not, or does.
    case logUnknownGone, logUnknownStands
    /// The process dies before, or after, it stands.
    case logCrash, logCrashed, vaultCrash, vaultCrashed
}

/// A planted bug: what a simulation must find.
enum SimulatedDefect: Sendable, CaseIterable {
    /// A commit is acknowledged that a crash takes back.
    case losesLastCommit
    /// A crash leaves part of a group.
    case tearsGroups
    /// Keys are acknowledged but not kept.
    case forgetsKeys
    /// The log removes new streams that the vault has not taken over.
    case removesEarly
    /// A decision is appended although others were faster (E4).
    case overlooksOvertaking
}

extension LogBatch {
    /// Its first record alone.
    fileprivate var torn: LogBatch {
        var torn = self
        torn.records.removeLast(records.count - 1)
        torn.leaves.removeLast(leaves.count - 1)
        torn.entries.removeLast(entries.count - 1)
        return torn
    }
}
