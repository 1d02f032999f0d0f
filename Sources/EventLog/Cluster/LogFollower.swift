import Synchronization

/// Copies a cluster's journals into a node's own log, and checks each root on the way.
package final class LogFollower: Sendable {
    private let journal: any ClusterJournal
    private let log: any LogStorage
    private let state: Mutex<State>

    private struct State {
        /// How much of the vault the copy has.
        var vaultPosition: UInt64
        /// What is known to be durable on a second machine; only that much is shown.
        var confirmed: Confirmed
    }

    /// What a leader was told is durable.
    package struct Confirmed: Sendable, Equatable {
        /// Events.
        package var size: UInt64
        /// The root at that size.
        package var root: Digest
    }

    /// Follows from where a log ends.
    ///
    /// `vaultPosition`: how much of the vault's journal stands in the node's files.
    package init(_ journal: any ClusterJournal, into log: any LogStorage, vaultPosition: UInt64) {
        self.journal = journal
        self.log = log
        state = Mutex(
            State(
                vaultPosition: vaultPosition,
                confirmed: Confirmed(size: 0, root: TreeHash.emptyRoot)
            )
        )
    }

    /// What may be folded, answered and signed.
    package var confirmed: Confirmed { state.withLock(\.confirmed) }

    /// How much of the vault's journal was copied.
    package var vaultPosition: UInt64 { state.withLock(\.vaultPosition) }

    /// Copies a page.
    ///
    /// - Returns: the row of the snapshot that was read.
    /// - Throws: `JournalFault`; `LogStorageFault.damaged` where the journal contradicts what this node
    ///   has or what is confirmed: then nothing is cut and nothing is copied.
    package func step() throws -> JournalRow {
        let end = try log.end()
        let page = try journal.page(from: end.size, vaultAfter: vaultPosition)
        try require(page.row, at: end)
        // A gap in the places is no state that a journal comes into.
        guard page.row.end.size == end.size || !page.batches.isEmpty else {
            throw Self.contradiction(at: end.size)
        }
        var reached = end
        for batch in page.batches {
            reached = try log.append(batch.unpacked(after: reached))
            state.withLock { $0.vaultPosition += UInt64(batch.newStreams.count) }
        }
        if reached.size == page.row.end.size, reached.edge.root != page.row.end.root {
            throw Self.contradiction(at: reached.size)
        }
        note(page.row, reached)
        return page.row
    }

    /// Copies until the snapshot's end.
    package func catchUp() throws -> JournalRow {
        while true {
            let row = try step()
            if try log.end().size >= row.end.size { return row }
        }
    }

    /// Takes over what a leader knows by its own appends.
    package func note(confirmed end: JournalEnd) {
        state.withLock { state in
            guard end.size >= state.confirmed.size else { return }
            state.confirmed = Confirmed(size: end.size, root: end.root)
            state.vaultPosition = end.vaultPosition
        }
    }

    /// What was confirmed stands in whatever comes later, and what a copy has stands in the journal.
    private func require(_ row: JournalRow, at end: LogEnd) throws {
        let confirmed = confirmed
        guard row.end.size >= confirmed.size, row.end.size >= end.size else {
            throw Self.contradiction(at: min(row.end.size, end.size))
        }
        if row.end.size == end.size, row.end.root != end.edge.root {
            throw Self.contradiction(at: end.size)
        }
    }

    /// What is behind the copy's end is shown once it is copied.
    private func note(_ row: JournalRow, _ reached: LogEnd) {
        guard row.confirmedSize <= reached.size else { return }
        state.withLock { state in
            guard row.confirmedSize > state.confirmed.size else { return }
            state.confirmed = Confirmed(size: row.confirmedSize, root: row.confirmedRoot)
        }
    }

    private static func contradiction(at size: UInt64) -> LogStorageFault {
        LogStorageFault(
            .damaged,
            "the cluster's journal contradicts this copy at event \(size): nothing was changed"
        )
    }
}
