import EventLog
import PostgresStorage
import Testing

/// Several machines: who leads, and what the others copy and show.
extension `A cluster's journal in PostgreSQL` {
    @Test func `is led by a log and followed by another, event for event`() async throws {
        let cluster = try ScratchCluster()
        let (led, copy) = (MemoryLog(), MemoryLog())
        let leader = try cluster.leader(over: led)
        let reader = cluster.other(patience: 60_000)
        let follower = LogFollower(reader, into: copy, vaultPosition: 0)
        let sample = SampleBatches([1, 255, 1, 300, 2])
        for (count, batch) in sample.batches.enumerated() {
            // It listens before it is told.
            _ = try reader.awaitChange(milliseconds: 1)
            _ = try leader.append(batch)
            // What the leader was told of the last commit is known with its next write: what nobody knows to be
            // durable is not copied.
            _ = try follower.catchUp()
            #expect(follower.confirmed.size == (count == 0 ? 0 : batch.first))
            #expect(copy.end().size == follower.confirmed.size)
            // Or by what it announces.
            try cluster.journal.announce(leader.announcement)
            follower.note(try #require(try reader.awaitChange(milliseconds: 60_000)))
            let row = try follower.catchUp()
            #expect(copy.end() == led.end() && row.end.size == copy.end().size)
        }
        #expect(follower.confirmed.size == 559)
        #expect(follower.confirmed.root == sample.end.edge.root)
        #expect(follower.vaultPosition == 5)
        #expect(copy.newStreams(from: 0) == led.newStreams(from: 0))
        for sequence in UInt64(0)..<559 {
            #expect(copy.attached(at: sequence) == led.attached(at: sequence))
        }
    }

    // Every role of the database may notify; and a leader that was deposed says what it was told.
    @Test func `is followed by the word of who leads alone`() throws {
        let cluster = try ScratchCluster()
        let (led, copy) = (MemoryLog(), MemoryLog())
        let leader = try cluster.leader(over: led)
        _ = try leader.append(SampleBatches([2]).batches[0])
        let follower = LogFollower(cluster.journal, into: copy, vaultPosition: 0)
        let reader = cluster.other(patience: 60_000)
        _ = try reader.awaitChange(milliseconds: 1)
        try PostgresServers.sql("NOTIFY \(cluster.schema.name), '1 2 3 4'")
        #expect(try reader.awaitChange(milliseconds: 60_000) == nil)
        var other = leader.announcement
        other.leadership.term += 1
        follower.note(other)
        _ = try follower.catchUp()
        #expect(copy.end().size == 0)
        // Control: who leads is believed.
        follower.note(leader.announcement)
        _ = try follower.catchUp()
        #expect(copy.end() == led.end())
    }

    // Whichever node is asked hands out all that the witnesses of its checkpoints signed.
    @Test func `what a witness signed stands at every node`() throws {
        let cluster = try ScratchCluster()
        let (led, copy) = (MemoryLog(), MemoryLog())
        let leader = try cluster.leader(over: led)
        let leading = NodeLog(named: "a", over: led, keepingIn: cluster.journal) {}
        leading.lead(by: leader)
        _ = try leading.append(SampleBatches([2]).batches[0])
        let journal = cluster.other(patience: 60_000)
        let follower = LogFollower(journal, into: copy, vaultPosition: 0)
        follower.note(confirmed: leader.confirmed)
        _ = try follower.catchUp()
        let following = NodeLog(named: "b", over: copy, keepingIn: journal) {}
        func keep(_ note: String, then standing: String) throws {
            try leading.keepCheckpoint(size: 2, note: note)
            try following.followCheckpoints()
            #expect(try journal.checkpoints(from: 0).map(\.note) == [standing], "\(note)")
            #expect(copy.checkpoints().map(\.note) == [standing], "\(note)")
        }
        try keep("signed\n", then: "signed\n")
        try keep("signed\nwitnessed\n", then: "signed\nwitnessed\n")
        // What comes late of before takes nothing from it.
        try keep("signed\n", then: "signed\nwitnessed\n")
    }

    @Test func `is led by nobody who was deposed`() throws {
        let cluster = try ScratchCluster()
        let sample = SampleBatches([1, 1])
        let own = MemoryLog()
        let leader = try cluster.leader(over: own)
        _ = try leader.append(sample.batches[0])
        var randomness = RandomSource.system
        let other = LeaderID(using: &randomness)
        let seen = try cluster.journal.row().lease
        let (end, leadership) = try cluster.journal.take(
            over: seen,
            as: other,
            node: "b",
            address: ""
        ).committed()
        #expect(end.size == 1 && leadership.leader == other)
        #expect(throws: LogStorageFault(.noLeader, "another node leads")) {
            try leader.append(sample.batches[1])
        }
        #expect(!leader.isLeading && own.end().size == 1)
        #expect(throws: LogStorageFault.self) { try leader.renew() }
        // The one that took over goes on from a copy.
        let copy = MemoryLog()
        let follower = LogFollower(cluster.journal, into: copy, vaultPosition: 0)
        follower.note(confirmed: end)
        _ = try follower.catchUp()
        let next = try LeaderLog(
            cluster.journal,
            over: copy,
            as: leadership,
            from: end,
            randomness: .system
        )
        #expect(try next.append(sample.batches[1]).size == 2)
    }

    @Test func `finds out for its leader what became of a commit in doubt`() async throws {
        let cluster = try ScratchCluster()
        let impatient = cluster.other(patience: 6000)
        let own = MemoryLog()
        let sample = SampleBatches([3, 2])
        let leader = try LeaderLog(
            impatient,
            over: own,
            as: cluster.leadership,
            from: cluster.end,
            randomness: .system
        )
        try leader.renew()
        PostgresServers.act(.freeze, on: "b")
        let batch = sample.batches[0]
        let code = await onThread { () -> LogStorageFault.Code? in
            do {
                _ = try leader.append(batch)
                return nil
            } catch {
                return (error as? LogStorageFault)?.code
            }
        }
        PostgresServers.act(.thaw, on: "b")
        #expect(code == .outcomeUnknown)
        #expect(own.end().size == 0, "nothing is shown that is in doubt")
        #expect(throws: LogStorageFault.self) { try leader.append(batch) }
        try leader.reopen()
        #expect(own.end().size == 3)
        #expect(try leader.append(sample.batches[1]) == sample.end)
        #expect(try cluster.journal.row().end == leader.confirmed)
    }

    /// How a journal contradicts a copy.
    enum Contradiction: String, CaseIterable, Sendable {
        case shorter, otherRoot, byte, gap
    }

    // Nobody cuts, and what does not fit is not copied.
    @Test(arguments: Contradiction.allCases)
    func `is not followed where it contradicts a copy`(_ how: Contradiction) throws {
        let cluster = try ScratchCluster()
        let sample = SampleBatches([2, 2, 2])
        var (end, known) = (LogEnd.empty, cluster.end)
        let copy = MemoryLog()
        let follower = LogFollower(cluster.journal, into: copy, vaultPosition: 0)
        for batch in sample.batches.dropLast() {
            (end, known) = try append(batch, after: end, known, to: cluster)
        }
        follower.note(confirmed: known)
        _ = try follower.catchUp()
        #expect(copy.end() == end)
        let name = cluster.schema.name
        switch how {
        case .shorter:
            try PostgresServers.sql(
                "UPDATE \(name).ledger SET size = 2, root = (SELECT root FROM \(name).batch WHERE first = 0)"
            )
        case .otherRoot:
            try PostgresServers.sql("UPDATE \(name).ledger SET root = confirmed_root")
        case .byte, .gap:
            (_, known) = try append(sample.batches[2], after: end, known, to: cluster)
            follower.note(confirmed: known)
            try PostgresServers.sql(
                how == .gap
                    ? "DELETE FROM \(name).batch WHERE first = 4"
                    : """
                    UPDATE \(name).batch SET bytes = set_byte(bytes, 60, get_byte(bytes, 60) # 1)
                    WHERE first = 4
                    """
            )
        }
        let before = copy.end()
        let isOther = how == .shorter || how == .otherRoot
        #expect { try follower.catchUp() } throws: {
            ($0 as? JournalFault)?.code == (isOther ? .otherHistory : .damaged)
        }
        #expect(copy.end() == before)
    }

    // By a clock that nobody sets.
    @Test func `is taken over by who saw its lease stand still`() {
        var watch = LeaseWatch(duration: 5000)
        func lease(_ term: UInt64, _ beat: UInt64) -> JournalLease {
            JournalLease(
                leadership: Leadership(term: term, leader: LeaderID([])),
                beat: beat,
                node: "",
                address: ""
            )
        }
        let looks: [(JournalLease, Int64, Bool)] = [
            (lease(1, 1), 100, false), (lease(1, 1), 5099, false), (lease(1, 1), 5100, true),
            // It moved; another leads; another start of the machine.
            (lease(1, 2), 5200, false), (lease(2, 2), 10_300, false), (lease(2, 2), 10_000, false),
            (lease(2, 2), 15_000, true),
        ]
        for (lease, readAt, isTaken) in looks {
            let mayTake = watch.note(lease, readAt: readAt, seenAt: readAt)
            #expect(mayTake == isTaken, "at \(readAt)")
        }
        // A look takes long, over a new connection say: its beat may be as young as its end, and stands, as far as
        // the next one shows, to the beginning of that.
        let longLooks: [(readAt: Int64, seenAt: Int64, isTaken: Bool)] = [
            (20_000, 29_900, false), (29_920, 29_930, false), (34_890, 40_000, false),
            (34_900, 40_000, true),
        ]
        for look in longLooks {
            let mayTake = watch.note(lease(3, 1), readAt: look.readAt, seenAt: look.seenAt)
            #expect(mayTake == look.isTaken, "at \(look.readAt)")
        }
    }
}
