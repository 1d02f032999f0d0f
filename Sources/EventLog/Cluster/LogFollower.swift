import Synchronization

/// Copies a cluster's journals into a node's own log, and checks each root on the way.
///
/// What no leader was told is durable on a second machine is not copied: so a copy never has to be cut
/// back, and all that it holds may be shown.
package final class LogFollower: Sendable {
    private let journal: any ClusterJournal
    private let log: any LogReader
    private let append: @Sendable (LogBatch) throws -> LogEnd
    private let state: Mutex<State>

    private struct State {
        /// How much of the vault the copy has.
        var vaultPosition: UInt64
        /// What is known to be durable on a second machine.
        var confirmed: Confirmed
        /// What was announced, until a row says whether that one leads yet.
        var announced: JournalAnnouncement?
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
    /// `vaultPosition`: how much of the vault's journal stands in the node's files. `append`: adds a
    /// commit to log and vault.
    package init(
        _ journal: any ClusterJournal,
        into log: any LogReader,
        vaultPosition: UInt64,
        append: @escaping @Sendable (LogBatch) throws -> LogEnd
    ) {
        self.journal = journal
        self.log = log
        self.append = append
        state = Mutex(
            State(
                vaultPosition: vaultPosition,
                confirmed: Confirmed(size: 0, root: TreeHash.emptyRoot)
            )
        )
    }

    /// Follows from where a log ends, which keeps its new streams itself.
    package convenience init(
        _ journal: any ClusterJournal,
        into log: any LogStorage,
        vaultPosition: UInt64
    ) {
        self.init(journal, into: log, vaultPosition: vaultPosition) { try log.append($0) }
    }

    /// What may be copied, folded, answered and signed.
    package var confirmed: Confirmed { state.withLock(\.confirmed) }

    /// How much of the vault's journal was copied.
    package var vaultPosition: UInt64 { state.withLock(\.vaultPosition) }

    /// Reads what lies behind the copy's end.
    ///
    /// Blocks for the journal; nothing is changed yet.
    ///
    /// - Throws: `JournalFault`: `otherHistory` where the journal contradicts what this node has or what is
    ///   confirmed; what the log throws.
    package func read() throws -> JournalPage {
        let end = try log.end()
        let page = try journal.page(from: end.size, vaultAfter: vaultPosition)
        note(page.row)
        try require(page.row, at: end)
        return page
    }

    /// Copies of a page what is confirmed.
    ///
    /// - Throws: `JournalFault`: `otherHistory` where it contradicts what this node has or what is confirmed:
    ///   nothing of the batch that does is copied; what the log throws.
    package func copy(_ page: JournalPage) throws {
        var end = try log.end()
        let confirmed = confirmed
        // A gap in the places is no state that a journal comes into.
        guard page.row.end.size == end.size || !page.batches.isEmpty else {
            throw JournalFault(.damaged, "batch \(end.size) is missing")
        }
        for batch in page.batches {
            let (next, isTooMany) = end.size.addingReportingOverflow(UInt64(batch.count))
            guard !isTooMany, next <= confirmed.size else {
                // What is confirmed ends where a commit ends.
                guard end.size >= confirmed.size else { throw Self.contradiction(at: end.size) }
                break
            }
            let unpacked = try batch.unpacked(after: end)
            guard next < confirmed.size || batch.root == confirmed.root else {
                throw Self.contradiction(at: next)
            }
            end = try append(unpacked)
            state.withLock { $0.vaultPosition += UInt64(batch.newStreams.count) }
        }
        if end.size == page.row.end.size, end.edge.root != page.row.end.root {
            throw Self.contradiction(at: end.size)
        }
    }

    /// Copies a page.
    ///
    /// - Returns: the row of the snapshot that was read.
    /// - Throws: as ``read()`` and ``copy(_:)``.
    package func step() throws -> JournalRow {
        let page = try read()
        try copy(page)
        return page.row
    }

    /// Copies what is confirmed.
    package func catchUp() throws -> JournalRow {
        while true {
            let row = try step()
            if try log.end().size >= confirmed.size { return row }
        }
    }

    /// Takes over what a leader knows by its own appends.
    package func note(confirmed end: JournalEnd) {
        state.withLock { state in
            guard end.size >= state.confirmed.size else { return }
            state.confirmed = Confirmed(size: end.size, root: end.root)
        }
    }

    /// Takes over how much of the vault stands in the node's files, which a leader adds to by itself.
    package func note(vaultPosition: UInt64) {
        state.withLock { $0.vaultPosition = vaultPosition }
    }

    /// Takes over what a leader said; it counts once a row shows that it leads.
    package func note(_ announcement: JournalAnnouncement) {
        state.withLock { $0.announced = announcement }
    }

    private func note(_ row: JournalRow) {
        state.withLock { state in
            if row.confirmedSize > state.confirmed.size {
                state.confirmed = Confirmed(size: row.confirmedSize, root: row.confirmedRoot)
            }
            guard let announced = state.announced else { return }
            // What was announced after the snapshot waits for the next one.
            guard announced.leadership == row.lease.leadership, announced.size <= row.end.size
            else {
                return
            }
            if announced.size > state.confirmed.size {
                state.confirmed = Confirmed(size: announced.size, root: announced.root)
            }
            state.announced = nil
        }
    }

    /// What was confirmed stands in whatever comes later, and what a copy has stands in the journal.
    private func require(_ row: JournalRow, at end: LogEnd) throws {
        guard row.end.size >= confirmed.size, row.end.size >= end.size else {
            throw Self.contradiction(at: min(row.end.size, end.size))
        }
        if row.end.size == end.size, row.end.root != end.edge.root {
            throw Self.contradiction(at: end.size)
        }
    }

    private static func contradiction(at size: UInt64) -> JournalFault {
        JournalFault(
            .otherHistory,
            "the cluster's journal contradicts this copy at event \(size): nothing was changed"
        )
    }
}
