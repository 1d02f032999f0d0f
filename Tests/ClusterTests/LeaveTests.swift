import DurableFiles
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations
import PostgresStorage
import Testing

/// Several machines, and back to one.
extension `A cluster's journal in PostgreSQL` {
    @Test func `ends in a lease that nobody takes over, renews or appends in`() throws {
        let cluster = try ScratchCluster()
        let sample = SampleBatches([2, 1])
        let (end, known) = try append(sample.batches[0], after: .empty, cluster.end, to: cluster)
        let led = try cluster.journal.row().lease
        var randomness = RandomSource.system
        let (leader, other) = (LeaderID(using: &randomness), LeaderID(using: &randomness))
        // One that was taken meanwhile is not ended.
        var old = led
        old.leadership.term -= 1
        #expect(
            cluster.journal.end(old, as: leader, node: "b", confirmed: nil).refusal == .deposed
        )
        #expect(try cluster.journal.row().lease == led)
        let (last, _) = try cluster.journal.end(led, as: leader, node: "b", confirmed: nil)
            .committed()
        #expect(last == known)
        let row = try cluster.journal.row()
        #expect(row.lease.isLast && row.lease.node == "b" && row.lease.leadership.leader == leader)
        #expect(row.lease.leadership.term == led.leadership.term + 1)
        let late = cluster.journal.append(
            JournalBatch(sample.batches[1], after: end.edge),
            endingAt: sample.end,
            decidedOn: known,
            as: cluster.leadership
        )
        #expect(late.refusal == .deposed)
        let deposed = cluster.leadership
        let outcomes = [
            cluster.journal.renew(deposed, as: deposed.leader, confirmed: nil),
            cluster.journal.resign(deposed, confirmed: known),
            cluster.journal.take(over: row.lease, as: other, node: "c", address: ""),
            cluster.journal.end(row.lease, as: other, node: "c", confirmed: nil),
            // Not even who ended it.
            cluster.journal.renew(row.lease.leadership, as: leader, confirmed: nil),
        ]
        for outcome in outcomes { #expect(outcome.refusal != nil) }
        #expect(try cluster.journal.row() == row)
        // Who ended it says it again, and what all may read.
        _ = try cluster.journal.end(row.lease, as: leader, node: "b", confirmed: last).committed()
        #expect(try cluster.journal.row().confirmedSize == 2)
        // Nobody waits for it, however long it stands.
        var watch = LeaseWatch()
        for readAt in [Int64(0), 5000, 1_000_000] {
            let isTaken = watch.note(row.lease, readAt: readAt, seenAt: readAt)
            #expect(!isTaken)
        }
    }

    @Test func `is left by one directory that stands alone, while the others only read`()
        async throws
    {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 3)
            let size = try first.size()
            // A server that runs has its directory.
            #expect { try machines.leave("b") } throws: {
                ($0 as? LedgerOpenFault)?.code == .locked
            }
            #expect(try !machines.journal.row().lease.isLast)
            await second.end()
            #expect(try first.grant(3).isAppended)
            try add("a key", at: first)
            #expect(try machines.leave("b") == size + 1)
            #expect(try machines.journal.row().confirmedSize == size + 1, "who reads has all")
            // The leader is one no more.
            #expect { try first.grant(4) } throws: { ($0 as? LogStorageFault)?.code == .noLeader }
            try await eventually("the first to know") {
                try first.node.standing().fault == "ended"
            }
            let standing = try first.node.standing()
            #expect(first.node.hasEnded && !standing.isLeading && standing.leader == nil)
            #expect(first.node.leaderToAsk == nil)
            #expect(try first.mayUse(3) && first.size() == size + 1)
            // A key that is revoked there would go on counting where the ledger does.
            #expect { try add("late", at: first) } throws: {
                ($0 as? LogStorageFault)?.code == .notInCluster
            }
            // Alone it goes on.
            let place = machines.path("b")
            for name in ["node", ClusterFile.name, "leaving"] {
                #expect(!DurableFile.exists(place + "/" + name), "\(name)")
            }
            #expect(lines("b", machines) == ["a key"])
            let log = try alone(place) { open in
                #expect(try open.ledger.questions.size() == size + 1)
                _ = try open.ledger.appender.grant(
                    "later",
                    to: try Machine.customer(9),
                    features: [],
                    tier: "pro",
                    expiresAt: nil,
                    reason: "a test",
                    Request(id: "later", source: Source.support, environment: .production)
                )
                return try open.directory.log.end().size
            }
            #expect(log == size + 2)
            let answer = try machines.audit("b")
            #expect(answer.faults.isEmpty)
            // No other directory goes on, and this one not from anew.
            await first.end()
            for name in ["a", "b"] {
                #expect { try machines.leave(name) } throws: {
                    ($0 as? OperationFault)?.code == .configuration
                }
            }
            #expect(LedgerDirectory.isNode(at: machines.path("a")))
            // Who begins again reads.
            let again = try machines.open("a")
            again.begin()
            try await eventually("it to know") { try again.node.standing().fault == "ended" }
            #expect(try again.mayUse(3) && again.size() == size + 1)
        }
    }

    /// Where leaving was stopped.
    enum Stop: String, CaseIterable, Sendable {
        case noted, ended, unmarked
    }

    @Test(arguments: Stop.allCases)
    func `is left by a directory that was stopped while it left`(_ stop: Stop) async throws {
        try await withMachines { machines in
            let first = machines[0]
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            for number in 0..<3 { #expect(try first.grant(number).isAppended) }
            let size = try first.size()
            await machines[1].end()
            await first.end()
            let place = machines.path("b")
            let leader = LeaderID([UInt8](repeating: 7, count: LeaderID.byteCount))
            try DurableFile.replace(place + "/leaving", with: leader.bytes)
            if stop != .noted {
                let lease = try machines.journal.row().lease
                _ = try machines.journal.end(lease, as: leader, node: "b", confirmed: nil)
                    .committed()
            }
            if stop == .unmarked { try LedgerDirectory.unmarkNode(at: place) }
            #expect(try machines.leave("b") == size)
            #expect(try machines.journal.row().lease.leadership.leader == leader)
            #expect(!LedgerDirectory.isNode(at: place))
            #expect(!DurableFile.exists(place + "/leaving"))
            // What was stopped behind the mark had all of it before.
            guard stop != .unmarked else { return }
            #expect(try alone(place) { try $0.ledger.questions.size() } == size)
        }
    }
}

private func alone<Result>(
    _ place: String,
    _ body: (OpenLedger) throws -> Result
) throws -> Result {
    try OpenLedger(at: place, options: .init(key: .file(place + "/key")))
        .lend(warn: { _ in }) { try body($0) }
}
