import EventLog
import Foundation
import LedgerOperations
import PostgresStorage
import Testing

/// Several machines: who ends gives the lease up, and nobody waits for its end.
extension `A cluster's journal in PostgreSQL` {
    @Test func `is given up by who leads alone, who appends nothing any more`() throws {
        let cluster = try ScratchCluster()
        let sample = SampleBatches([2, 1])
        let (end, known) = try append(sample.batches[0], after: .empty, cluster.end, to: cluster)
        let led = try cluster.journal.row()
        var other = cluster.leadership
        other.term += 1
        var another = cluster.leadership
        another.leader.bytes[0] ^= 1
        for stranger in [other, another] {
            let outcome = cluster.journal.resign(stranger, confirmed: known)
            #expect(outcome.refusal == .deposed)
        }
        #expect(try cluster.journal.row() == led)
        let (left, leadership) = try cluster.journal.resign(cluster.leadership, confirmed: known)
            .committed()
        #expect(left == known)
        #expect(leadership == Leadership(term: led.lease.leadership.term, leader: .nobody))
        let row = try cluster.journal.row()
        #expect(row.lease.isVacant && row.lease.node.isEmpty && row.lease.address.isEmpty)
        #expect(row.confirmedSize == 2 && row.confirmedRoot == known.root)
        // What was on its way yet is refused.
        let late = cluster.journal.append(
            JournalBatch(sample.batches[1], after: end.edge),
            endingAt: sample.end,
            decidedOn: known,
            as: cluster.leadership
        )
        #expect(late.refusal == .deposed)
        let leader = cluster.leadership.leader
        let renewed = cluster.journal.renew(cluster.leadership, as: leader, confirmed: known)
        #expect(renewed.refusal == .deposed)
        #expect(try cluster.journal.row() == row)
        // Of those who see it one leads.
        for isFirst in [true, false] {
            var randomness = RandomSource.system
            let outcome = cluster.journal.take(
                over: row.lease,
                as: LeaderID(using: &randomness),
                node: "b",
                address: "https://b"
            )
            #expect(outcome.refusal == (isFirst ? nil : .deposed))
        }
        let next = try cluster.journal.row().lease
        #expect(!next.isVacant && next.leadership.term == led.lease.leadership.term + 1)
    }

    @Test func `is led by no log that resigned`() throws {
        let cluster = try ScratchCluster()
        let sample = SampleBatches([1, 1])
        let own = MemoryLog()
        let leader = try cluster.leader(over: own)
        _ = try leader.append(sample.batches[0])
        leader.resign()
        #expect(!leader.isLeading)
        let row = try cluster.journal.row()
        #expect(row.lease.isVacant && row.confirmedSize == 1)
        #expect { try leader.append(sample.batches[1]) } throws: {
            ($0 as? LogStorageFault)?.code == .noLeader
        }
        #expect { try leader.renew() } throws: { ($0 as? LogStorageFault)?.code == .noLeader }
        leader.resign()
        #expect(try own.end().size == 1 && cluster.journal.row() == row)
        // Nobody waits for the lease of nobody; control: that of somebody is waited for.
        var watch = LeaseWatch()
        var isTaken = watch.note(row.lease, readAt: 0, seenAt: 0)
        #expect(isTaken)
        var led = row.lease
        led.leadership.leader = cluster.leadership.leader
        isTaken = watch.note(led, readAt: 0, seenAt: 0)
        #expect(!isTaken)
    }

    // Whoever runs it looks there first where nothing is recorded any more.
    @Test func `is led by nobody where no standby is named, and each machine says so`()
        async throws
    {
        try await withMachines { machines in
            let (first, second) = (machines[0], machines[1])
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            await first.end()
            try Self.nameStandby("")
            try await eventually("nobody is named") { try Self.namedStandby() == "" }
            second.begin()
            try await eventually("it to say why it does not lead") {
                try second.node.standing().fault == "not_synchronous"
            }
            #expect(!second.node.isLeading)
            // The control: it goes on trying, and says nothing any more.
            try Self.nameStandby("b")
            try await eventually("it to lead") { second.node.isLeading }
            try await eventually("nothing to keep it") {
                try second.node.standing().fault == nil
            }
        }
    }

    // Half of the lease: what a machine that dies costs is the whole of it.
    @Test func `is handed over by a machine that ends, and waited for of one that hangs`()
        async throws
    {
        try await withMachines { machines in
            var (leader, follower) = (machines[0], machines[1])
            leader.begin()
            try await eventually("a leader") { leader.node.isLeading }
            follower.begin()
            var pauses: [Duration] = []
            for number in 0..<3 {
                #expect(try leader.grant(number).isAppended)
                let size = try leader.size()
                try await eventually("the other one to know") { try follower.size() == size }
                let began = ContinuousClock.now
                await leader.end()
                #expect(!leader.node.isLeading)
                try await eventually("the other one to lead") { follower.node.isLeading }
                pauses.append(began.duration(to: .now))
                #expect(try follower.size() == size)
                (leader, follower) = (follower, try machines.open(leader.name))
                follower.begin()
            }
            let shortest = try #require(pauses.min())
            #expect(shortest < .milliseconds(LeaseWatch.duration / 2), "\(pauses)")
            // Control: the lease passes.
            let began = ContinuousClock.now
            #expect(try leader.grant(3).isAppended)
            await leader.halt()
            try await eventually("the other one to lead") { follower.node.isLeading }
            #expect(began.duration(to: .now) >= .milliseconds(LeaseWatch.duration))
            for number in 0...3 { #expect(try follower.mayUse(number)) }
        }
    }
}
