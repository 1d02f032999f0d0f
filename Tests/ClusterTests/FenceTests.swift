import EventLog
import Foundation
import PostgresStorage
import Testing

/// What stands in PostgreSQL, with a standby that is waited for.
@Suite(.serialized, .enabled(if: PostgresServers.isInstalled, PostgresServers.reason))
struct `A cluster's journal in PostgreSQL` {
    /// One that is installed and does not start fails each test, rather than skip it.
    init() throws { _ = try #require(PostgresServers.folder, "PostgreSQL did not start") }
}

/// Several machines: one call, one transaction, one fence.
extension `A cluster's journal in PostgreSQL` {
    /// What of a call is not what the row says.
    enum Stale: String, CaseIterable, Sendable {
        case term, leader, size, root, vaultPosition, generation, first, recorded, counter
    }

    @Test func `takes a commit whole and gives it back`() throws {
        let cluster = try ScratchCluster()
        var known = cluster.end
        var end = LogEnd.empty
        let sample = SampleBatches([1, 3, 300])
        for batch in sample.batches {
            (end, known) = try append(batch, after: end, known, to: cluster)
        }
        #expect(known.size == 304 && known.root == sample.end.edge.root)
        let page = try cluster.journal.page(from: 0, vaultAfter: 0)
        #expect(page.row.end == known)
        #expect(page.batches.map(\.first) == [0, 1, 4], "places are dense")
        var again = LogEnd.empty
        for (batch, sent) in zip(page.batches, sample.batches) {
            let unpacked = try batch.unpacked(after: again)
            #expect(Array(unpacked.records) == Array(sent.records))
            #expect(unpacked.newStreams == sent.newStreams)
            again = unpacked.end(after: again)
        }
        #expect(again == sample.end)
        let rest = try cluster.journal.page(from: 1, vaultAfter: 1)
        #expect(rest.batches == Array(page.batches.dropFirst()))
    }

    @Test(arguments: Stale.allCases)
    func `refuses a commit that was decided on something else`(_ stale: Stale) throws {
        let cluster = try ScratchCluster()
        #expect(try isHeld(stale, by: cluster))
    }

    // Control: without the fence the same look finds each.
    @Test(arguments: [Stale.term, .leader, .root, .generation])
    func `is not fenced by anything but its function`(_ stale: Stale) throws {
        let cluster = try ScratchCluster()
        try removeFence(of: cluster.schema)
        #expect(try !isHeld(stale, by: cluster))
    }

    /// Whether a stale call is refused and leaves nothing, and the right one is taken afterwards.
    private func isHeld(_ stale: Stale, by cluster: ScratchCluster) throws -> Bool {
        let sample = SampleBatches([2, 2])
        let (end, known) = try append(sample.batches[0], after: .empty, cluster.end, to: cluster)
        let before = try cluster.journal.row()
        let batch = sample.batches[1]
        var call = (known: known, leadership: cluster.leadership, end: sample.end)
        var packed = JournalBatch(batch, after: end.edge)
        switch stale {
        case .term: call.leadership.term += 1
        case .leader: call.leadership.leader.bytes[0] ^= 1
        case .size: call.known.size -= 1
        case .root: call.known.root = TreeHash.emptyRoot
        case .vaultPosition: call.known.vaultPosition += 1
        case .generation: call.known.generation += 1
        case .first: packed.first += 1
        case .recorded: call.end.lastRecordedAt = end.lastRecordedAt - 1
        case .counter: call.end.highestCounter = end.highestCounter - 1
        }
        let outcome = cluster.journal.append(
            packed,
            endingAt: call.end,
            decidedOn: call.known,
            as: call.leadership
        )
        let isOfLeader = stale == .term || stale == .leader
        guard outcome.refusal == (isOfLeader ? .deposed : .moved),
            try cluster.journal.row() == before,
            try cluster.journal.page(from: 0, vaultAfter: 0).batches.count == 1
        else { return false }
        _ = try append(batch, after: end, known, to: cluster)
        return true
    }

    private func removeFence(of schema: JournalSchema) throws {
        let source = try PostgresServers.sql(
            "SELECT pg_get_functiondef(('\(schema.name).append')::regproc)"
        )[0].text(0)
        let start = try #require(source.range(of: "WHERE l.term = for_term"))
        let end = try #require(source.range(of: "RETURNING l.size"))
        try PostgresServers.sql(
            source.replacingCharacters(in: start.lowerBound..<end.lowerBound, with: "")
        )
    }

    // Of those who saw the same lease one leads.
    @Test func `gives a lease to one`() async throws {
        let cluster = try ScratchCluster()
        let seen = try cluster.journal.row().lease
        let outcomes = await withTaskGroup(of: JournalOutcome.self) { group in
            for number in 0..<8 {
                let journal = cluster.other(patience: 60_000)
                group.addTask {
                    await onThread {
                        journal.take(
                            over: seen,
                            as: LeaderID([UInt8](repeating: UInt8(number), count: 16)),
                            node: "n\(number)",
                            address: ""
                        )
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { (try? $0.committed()) != nil } == 1)
        #expect(outcomes.count { $0.refusal == .deposed } == 7)
        let row = try cluster.journal.row()
        #expect(row.lease.leadership.term == seen.leadership.term + 1)
        // Who was deposed commits nothing.
        let batch = JournalBatch(SampleBatches([1]).batches[0], after: TreeEdge())
        let late = cluster.journal.append(
            batch,
            endingAt: SampleBatches([1]).end,
            decidedOn: cluster.end,
            as: cluster.leadership
        )
        #expect(late.refusal == .deposed)
        #expect(
            cluster.journal.renew(
                cluster.leadership,
                as: cluster.leadership.leader,
                confirmed: nil
            ).refusal == .deposed
        )
        #expect(try cluster.journal.row() == row)
    }

    /// Appends what must be taken.
    func append(
        _ batch: LogBatch,
        after end: LogEnd,
        _ known: JournalEnd,
        to cluster: ScratchCluster
    ) throws -> (LogEnd, JournalEnd) {
        let reached = batch.end(after: end)
        let outcome = cluster.journal.append(
            JournalBatch(batch, after: end.edge),
            endingAt: reached,
            decidedOn: known,
            as: cluster.leadership
        )
        return (reached, try outcome.committed().0)
    }
}
