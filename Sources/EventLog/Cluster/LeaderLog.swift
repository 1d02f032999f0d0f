import Synchronization

/// The log of the node that leads: what is appended is durable in the cluster's journal first, then
/// stands in the node's own files.
package final class LeaderLog: OwnFilesLog {
    private let journal: any ClusterJournal
    /// See `OwnFilesLog`.
    package let own: any LogStorage
    private let state: Mutex<State>
    /// What is seen while the journal takes long.
    private let shown: Mutex<Shown>

    private struct State {
        /// What others see of it.
        var shown: Shown
        /// A commit whose outcome nobody knows, with the tree's edge behind it.
        var doubt: Doubt?
        var randomness: RandomSource
    }

    private struct Shown {
        var leadership: Leadership
        /// What was confirmed last.
        var known: JournalEnd
        /// Once another one leads, or the own files failed, this one never leads again.
        var isOver = false
    }

    private struct Doubt {
        var batch: LogBatch
        var root: Digest
    }

    /// Leads.
    ///
    /// `known`: the row as the taking of the lease returned it; the node's own log ends there.
    ///
    /// - Throws: `LogStorageFault.damaged` where it ends elsewhere.
    package init(
        _ journal: any ClusterJournal,
        over own: any LogStorage,
        as leadership: Leadership,
        from known: JournalEnd,
        randomness: RandomSource
    ) throws {
        let end = try own.end()
        guard end.size == known.size, end.edge.root == known.root else {
            throw LogStorageFault(.damaged, "this copy does not end where the cluster's log does")
        }
        self.journal = journal
        self.own = own
        let shown = Shown(leadership: leadership, known: known)
        self.shown = Mutex(shown)
        state = Mutex(State(shown: shown, randomness: randomness))
    }

    /// What is durable on a second machine, as this leader was told; waits for no journal.
    package var confirmed: JournalEnd { shown.withLock(\.known) }

    /// Whether it may still append; waits for no journal.
    package var isLeading: Bool { shown.withLock { !$0.isOver } }

    /// What it would tell who follows; waits for no journal.
    package var announcement: JournalAnnouncement {
        shown.withLock { shown in
            JournalAnnouncement(
                leadership: shown.leadership,
                size: shown.known.size,
                root: shown.known.root
            )
        }
    }

    /// Does something alone, however long the journal takes, and shows what came of it.
    private func alone<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        try state.withLock { state in
            defer { shown.withLock { $0 = state.shown } }
            return try body(&state)
        }
    }

    /// See `LogStorage`: durable in the journal, then in the node's files.
    ///
    /// - Throws: `LogStorageFault.outcomeUnknown` where nobody can tell, and `noLeader` where another
    ///   one leads: nothing of the batch stands then.
    package func append(_ batch: LogBatch) throws -> LogEnd {
        try alone { state in
            guard !state.shown.isOver else { throw Self.deposed }
            guard state.doubt == nil else { throw Self.inDoubt }
            let end = try own.end()
            guard batch.first == end.size, end.size == state.shown.known.size else {
                throw LogStorageFault(.damaged, "the batch does not begin at the log's end")
            }
            let packed = JournalBatch(batch, after: end.edge)
            let outcome = journal.append(
                packed,
                endingAt: batch.end(after: end),
                decidedOn: state.shown.known,
                as: state.shown.leadership
            )
            switch outcome {
            case .committed(let known, _):
                state.shown.known = known
                return try keep(batch, &state)
            case .refused(let fault):
                if [.deposed, .moved].contains(fault.code) { state.shown.isOver = true }
                throw LogStorageFault(fault)
            case .unknown:
                state.doubt = Doubt(batch: batch, root: packed.root)
                throw Self.inDoubt
            }
        }
    }

    /// Replaces keys and items of the vault: in the journal, then in the node's files.
    ///
    /// `position`: how many items the node's vault has. `known`: the wrapped keys that it replaces. `own`: writes it to the node's files.
    ///
    /// - Throws: as ``append(_:)``; a doubt is settled at once.
    package func rotate(
        _ rotation: VaultRotation,
        of position: UInt64,
        insteadOf known: [UInt8],
        _ own: () throws -> Void
    ) throws {
        try alone { state in
            guard !state.shown.isOver else { throw Self.deposed }
            guard state.doubt == nil else { throw Self.inDoubt }
            // A stream that the rotation lacks would lose the only key that opens it.
            guard position == state.shown.known.vaultPosition,
                rotation.generation == state.shown.known.generation + 1
            else {
                throw LogStorageFault(.damaged, "this copy of the vault is not the cluster's")
            }
            let outcome = journal.rotate(
                rotation,
                insteadOf: known,
                decidedOn: state.shown.known,
                as: state.shown.leadership
            )
            switch outcome {
            case .committed(let known, _): state.shown.known = known
            // Whoever leads next finishes the erasure.
            case .refused(let fault):
                state.shown.isOver = true
                throw LogStorageFault(fault)
            case .unknown:
                let known: JournalEnd
                do {
                    known = try renew(&state)
                } catch {
                    // Whoever leads next finishes the erasure.
                    state.shown.isOver = true
                    throw error
                }
                guard known.generation == rotation.generation else {
                    state.shown.isOver = true
                    throw LogStorageFault(
                        .busy,
                        "the cluster's database did not take it: try again"
                    )
                }
                state.shown.known = known
            }
            do {
                try own()
            } catch {
                // What it seals from here on would be under keys that nobody has.
                state.shown.isOver = true
                throw error
            }
        }
    }

    /// The node's own files get what the journal has: where they fail, another one is to lead.
    private func keep(_ batch: LogBatch, _ state: inout State) throws -> LogEnd {
        do {
            return try own.append(batch)
        } catch {
            state.shown.isOver = true
            throw LogStorageFault(
                .outcomeUnknown,
                "it is recorded, but this node's own files did not take it"
            )
        }
    }

    /// See `LogStorage`: a doubt is settled by a renewal under another id, so that a call that is on its
    /// way yet is refused by the fence.
    package func reopen() throws {
        try alone { state in
            try own.reopen()
            if let doubt = state.doubt, !state.shown.isOver { try settle(doubt, &state) }
        }
    }

    /// See `LogStorage`.
    package func keepCheckpoint(size: UInt64, note: String) throws {
        try own.keepCheckpoint(size: size, note: note)
    }

    private func settle(_ doubt: Doubt, _ state: inout State) throws {
        let known = try renew(&state)
        state.doubt = nil
        if known == state.shown.known { return }
        guard known.root == doubt.root else {
            state.shown.isOver = true
            throw Self.deposed
        }
        state.shown.known = known
        _ = try keep(doubt.batch, &state)
    }

    /// Renews the lease, and settles what is in doubt.
    ///
    /// - Throws: `LogStorageFault.noLeader` where another one leads, `outcomeUnknown` where the journal
    ///   does not answer.
    package func renew() throws {
        try alone { state in
            guard !state.shown.isOver else { throw Self.deposed }
            if let doubt = state.doubt {
                try own.reopen()
                return try settle(doubt, &state)
            }
            guard try renew(&state) == state.shown.known else {
                state.shown.isOver = true
                throw Self.deposed
            }
        }
    }

    /// Leads no more, and gives the lease up, so that another one leads at once.
    ///
    /// Where the journal does not take that, the lease ends by itself.
    package func resign() {
        alone { state in
            guard !state.shown.isOver else { return }
            state.shown.isOver = true
            _ = journal.resign(state.shown.leadership, confirmed: state.shown.known)
        }
    }

    /// - Returns: where the journals end, durably.
    private func renew(_ state: inout State) throws -> JournalEnd {
        let leader = LeaderID(using: &state.randomness)
        switch journal.renew(state.shown.leadership, as: leader, confirmed: state.shown.known) {
        case .committed(let end, let leadership):
            state.shown.leadership = leadership
            return end
        case .refused(let fault):
            if fault.code == .deposed { state.shown.isOver = true }
            throw LogStorageFault(fault)
        case .unknown:
            // It may lead under either id: who cannot tell leads no more, and takes the lease anew.
            state.shown.isOver = true
            throw Self.inDoubt
        }
    }

    private static let deposed = LogStorageFault(.noLeader, "another node leads")
    private static let inDoubt = LogStorageFault(
        .outcomeUnknown,
        "the cluster's database did not say whether it is recorded"
    )
}

extension LogStorageFault {
    /// What a journal refused, as storage says it.
    init(_ fault: JournalFault) {
        let code: Code =
            switch fault.code {
            case .deposed, .moved, .unavailable, .readOnly, .notSynchronous, .otherHistory,
                .clockDiffers:
                .noLeader
            case .full: .full
            case .newerFormat: .newerFormat
            case .damaged: .damaged
            case .missing, .notEmpty, .notPermitted, .refused: .unreadable
            }
        // The database's own words may name hosts and roles: they are for who runs this machine.
        let message =
            switch fault.code {
            case .deposed, .moved: "another node leads"
            case .notSynchronous: "no synchronous standby is named"
            case .unavailable, .readOnly: "the cluster's database takes no change now"
            case .full: "the disk of the cluster's database is full"
            case .newerFormat: "the cluster is of a newer format"
            case .damaged: "what the cluster holds contradicts itself"
            case .clockDiffers: "the clock of the cluster's database differs from this machine's"
            case .otherHistory: "the cluster's database is not what was confirmed before"
            case .missing, .notEmpty, .notPermitted, .refused:
                "the cluster's database refuses it (\(fault.code.rawValue))"
            }
        self.init(code, message)
    }
}
