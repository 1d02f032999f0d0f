import EventLog
import PostgresStorage
import Synchronization
import Testing

/// Several machines: what is acknowledged stands on two, and a doubt is found out.
extension `A cluster's journal in PostgreSQL` {
    /// What befalls a commit while it waits for the standby.
    enum Disturbance: String, CaseIterable, Sendable {
        /// The caller's patience ends.
        case patience
        /// Somebody cancels the wait: PostgreSQL says it succeeded, with a warning.
        case cancelled
        /// Somebody ends the connection.
        case terminated
        /// Nobody is named any more: the wait ends without a word.
        case unnamed
    }

    @Test(arguments: Disturbance.allCases)
    func `acknowledges nothing that no standby has, and finds out what became of it`(
        _ disturbance: Disturbance
    ) async throws {
        let cluster = try ScratchCluster()
        // On a busy machine a call needs seconds to be sent at all.
        let patience: Int64 = disturbance == .patience ? 6000 : 120_000
        let journal = cluster.other(patience: patience)
        let sample = SampleBatches([2])
        // The connection is made while all is well.
        var (_, leadership) = try journal.renew(
            cluster.leadership,
            as: cluster.leadership.leader,
            confirmed: nil
        ).committed()
        let call = (leadership, cluster.end)
        let packed = JournalBatch(sample.batches[0], after: TreeEdge())
        PostgresServers.act(.freeze, on: "b")
        async let awaited = onThread {
            journal.append(packed, endingAt: sample.end, decidedOn: call.1, as: call.0)
        }
        do {
            try await disturb(disturbance, in: cluster)
        } catch {
            PostgresServers.act(.thaw, on: "b")
            throw error
        }
        let outcome = await awaited
        #expect(outcome.isUnknown, "\(outcome)")
        if disturbance == .cancelled || disturbance == .unnamed {
            // A plain read shows what may be lost yet: it proves nothing.
            #expect(try cluster.journal.row().end.size == 2)
        }
        PostgresServers.act(.thaw, on: "b")
        try Self.nameStandby("b")
        // Control: a call that is on its way yet carries the id of before.
        let renewed = LeaderID([UInt8](repeating: 7, count: 16))
        let settled = cluster.journal.renew(leadership, as: renewed, confirmed: nil)
        let end: JournalEnd
        (end, leadership) = try settled.committed()
        #expect(end.size == 2 && end.root == sample.end.edge.root)
        // Its connection may have to read first whom it waits for.
        try await eventually("an append of before is refused") {
            let late = journal.append(packed, endingAt: sample.end, decidedOn: call.1, as: call.0)
            return late.refusal == .deposed
        }
        #expect(try cluster.journal.page(from: 0, vaultAfter: 0).batches.count == 1)
    }

    /// Processes of PostgreSQL that wait for a standby, for a cluster: what another one left behind may wait, too.
    private static func waiting(in cluster: ScratchCluster) throws -> [Int64] {
        try PostgresServers.sql(
            "SELECT pid::bigint FROM pg_stat_activity "
                + "WHERE wait_event = 'SyncRep' AND query LIKE '% \(cluster.schema.name).%'"
        ).map { try $0.integer(0) }
    }

    private func disturb(_ disturbance: Disturbance, in cluster: ScratchCluster) async throws {
        // A patience ends by itself, on a busy machine before anybody looked at its wait.
        if disturbance == .patience { return }
        try await eventually("a commit waits for the standby") {
            try Self.waiting(in: cluster).count == 1
        }
        // Nobody sees what is not confirmed.
        #expect(try cluster.journal.row().end.size == 0)
        switch disturbance {
        case .patience: break
        case .cancelled:
            for pid in try Self.waiting(in: cluster) {
                try PostgresServers.sql("SELECT pg_cancel_backend(\(pid))")
            }
        case .terminated:
            for pid in try Self.waiting(in: cluster) {
                try PostgresServers.sql("SELECT pg_terminate_backend(\(pid))")
            }
        case .unnamed: try Self.nameStandby("")
        }
    }

    static func nameStandby(_ name: String) throws {
        try PostgresServers.sql("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
        try PostgresServers.sql("SELECT pg_reload_conf()")
    }

    // Control: one that was told to be content with one machine acknowledges what the same fault loses.
    @Test func `acknowledges at once where it was told that one machine is enough`() async throws {
        let cluster = try ScratchCluster(allowsAsynchronous: true)
        try Self.nameStandby("")
        try await eventually("nobody is named") { try Self.namedStandby() == "" }
        PostgresServers.act(.freeze, on: "b")
        let sample = SampleBatches([2])
        let outcome = cluster.journal.append(
            JournalBatch(sample.batches[0], after: TreeEdge()),
            endingAt: sample.end,
            decidedOn: cluster.end,
            as: cluster.leadership
        )
        PostgresServers.act(.thaw, on: "b")
        try Self.nameStandby("b")
        #expect(try outcome.committed().0.size == 2)
    }

    // A key that was revoked would count again.
    @Test func `keeps nothing beside the row whose standby was taken from it`() async throws {
        let cluster = try ScratchCluster()
        let journal = cluster.other(patience: 120_000)
        // The connection is made while all is well.
        #expect(try journal.hold([1], as: "keys.json", insteadOf: nil))
        PostgresServers.act(.freeze, on: "b")
        let outcomes = Mutex<[String]>([])
        async let kept = onThread {
            let outcome = Result { try journal.hold([2], as: "keys.json", insteadOf: [1]) }
            outcomes.withLock { $0.append("\(outcome)") }
        }
        do {
            try await eventually("a commit waits for the standby") {
                try Self.waiting(in: cluster).count == 1
            }
            try Self.nameStandby("")
        } catch {
            PostgresServers.act(.thaw, on: "b")
            throw error
        }
        await kept
        PostgresServers.act(.thaw, on: "b")
        try Self.nameStandby("b")
        let said = outcomes.withLock(\.self)
        #expect(said.count == 1 && said[0].contains("no synchronous standby"), "\(said)")
        // The control: nothing but its acknowledgement is missing.
        #expect(try journal.held("keys.json") == [2])
    }

    // Said each second, it would take all connections of a database whose standby is away.
    @Test func `waits for no standby to say that a machine is there`() async throws {
        let cluster = try ScratchCluster()
        PostgresServers.act(.freeze, on: "b")
        defer { PostgresServers.act(.thaw, on: "b") }
        try cluster.journal.note(ClusterMember(name: "a", address: "", size: 1, generation: 0))
        #expect(try Self.waiting(in: cluster).isEmpty)
        #expect(try cluster.journal.members().map(\.size) == [1])
        try cluster.journal.note(ClusterMember(name: "a", address: "", size: 2, generation: 0))
        #expect(try cluster.journal.members().map(\.size) == [2])
    }

    // As does what waits for a standby that is away: each attempt would leave a connection behind that waits, too.
    @Test func `waits a moment for who holds what it changes, over a connection that stays`()
        async throws
    {
        let cluster = try ScratchCluster()
        try PostgresServers.sql("DROP ROLE IF EXISTS hurried")
        try PostgresServers.sql("CREATE ROLE hurried LOGIN SUPERUSER")
        let journal = cluster.other(patience: 30_000, user: "hurried")
        #expect(try journal.hold([1], as: "keys.json", insteadOf: nil))
        func connections() throws -> [Int64] {
            try PostgresServers.sql(
                "SELECT pid::bigint FROM pg_stat_activity WHERE usename = 'hurried'"
            ).map { try $0.integer(0) }
        }
        let known = try connections()
        #expect(known.count == 1)
        let holder = try PostgresConnection(PostgresServers.place(), within: 10)
        let name = cluster.schema.name
        func hold(_ texts: [String]) throws {
            for text in texts { _ = try holder.exchange([.init(.init("", text))], within: 60_000) }
        }
        func begin() throws {
            try hold(["BEGIN", "SELECT 1 FROM \(name).ledger, \(name).held FOR UPDATE"])
        }
        let lease = try cluster.journal.row().lease
        let leader = LeaderID([UInt8](repeating: 7, count: LeaderID.byteCount))
        try begin()
        // Some machines wait for one another, too.
        let others = (0..<3).map { _ in cluster.other(patience: 30_000) } + [journal]
        let outcomes = await withTaskGroup(of: JournalOutcome.self) { group in
            for other in others {
                group.addTask {
                    await onThread { other.take(over: lease, as: leader, node: "b", address: "") }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0.refusal == .unavailable } == 4, "\(outcomes)")
        #expect(try connections() == known)
        #expect { try journal.hold([2], as: "keys.json", insteadOf: [1]) } throws: {
            ($0 as? JournalFault)?.code == .unavailable
        }
        try hold(["COMMIT"])
        // The control: nothing was changed, and it is taken once nobody holds it.
        #expect(try cluster.journal.row().lease == lease)
        let leadership = try journal.take(over: lease, as: leader, node: "b", address: "")
            .committed().1
        // The limit went with its transaction: a renewal finds out what became of who holds the row, however long
        // that takes.
        try begin()
        async let renewal = onThread { journal.renew(leadership, as: leader, confirmed: nil) }
        try await Task.sleep(for: .seconds(5))
        try hold(["COMMIT"])
        _ = try await renewal.committed()
        try await eventually("nothing to be left behind") { try connections().count == 1 }
    }

    @Test func `writes nothing where no standby is named`() async throws {
        let cluster = try ScratchCluster()
        try Self.nameStandby("")
        try await eventually("nobody is named") { try Self.namedStandby() == "" }
        let sample = SampleBatches([1])
        let packed = JournalBatch(sample.batches[0], after: TreeEdge())
        var outcome = JournalOutcome.unknown("")
        // A connection hears of it a moment later than another.
        try await eventually("it is refused") {
            outcome = cluster.journal.append(
                packed,
                endingAt: sample.end,
                decidedOn: cluster.end,
                as: cluster.leadership
            )
            return outcome.refusal == .notSynchronous || outcome.isUnknown
        }
        try Self.nameStandby("b")
        #expect(outcome.refusal == .notSynchronous)
        #expect(try cluster.journal.row().end.size == 0)
    }

    @Test func `keeps nothing beside the log, either, where no standby is named`() async throws {
        let cluster = try ScratchCluster()
        let deliveries = PostgresDeliveries(PostgresServers.place(), schema: cluster.schema)
        let change = DeliveriesChange(stamp: [1])
        var files = 0
        func hold() throws -> Bool {
            files += 1
            return try cluster.journal.hold([1], as: "file \(files)", insteadOf: nil)
        }
        func isRefused(_ attempt: () throws -> Bool) -> Bool {
            do { return try !attempt() } catch {
                return (error as? JournalFault)?.code == .notSynchronous
            }
        }
        try Self.nameStandby("")
        try await eventually("nobody is named") { try Self.namedStandby() == "" }
        // An old connection hears of it a moment later than a new one.
        let isHoldRefused = (0..<50).contains { _ in isRefused(hold) }
        let isWriteRefused = isRefused { try deliveries.write(change, insteadOf: nil) }
        try Self.nameStandby("b")
        #expect(isHoldRefused && isWriteRefused)
        #expect(try cluster.journal.held("file \(files)") == nil)
        #expect(try deliveries.deliveryStamp() == nil)
        // The control: with a standby the same is taken.
        try await eventually("a standby is named") { try Self.namedStandby() == "b" }
        try await eventually("both are taken") {
            !isRefused(hold) && !isRefused { try deliveries.write(change, insteadOf: nil) }
        }
        #expect(try deliveries.deliveryStamp() == [1])
    }

    static func namedStandby() throws -> String {
        try PostgresServers.sql("SELECT current_setting('synchronous_standby_names')")[0].text(0)
    }

    // What a role, or whoever pools connections, says of `synchronous_commit` does not count.
    @Test func `waits for the standby whatever its role says`() async throws {
        let cluster = try ScratchCluster()
        try PostgresServers.sql("DROP ROLE IF EXISTS careless")
        try PostgresServers.sql("CREATE ROLE careless LOGIN SUPERUSER")
        try PostgresServers.sql("ALTER ROLE careless SET synchronous_commit = off")
        let journal = cluster.other(patience: 1500, user: "careless")
        _ = try journal.row()
        PostgresServers.act(.freeze, on: "b")
        let sample = SampleBatches([1])
        let (leadership, end) = (cluster.leadership, cluster.end)
        let outcome = await onThread {
            journal.append(
                JournalBatch(sample.batches[0], after: TreeEdge()),
                endingAt: sample.end,
                decidedOn: end,
                as: leadership
            )
        }
        PostgresServers.act(.thaw, on: "b")
        #expect(outcome.isUnknown)
        try await eventually("it is settled") { try cluster.journal.row().end.size == 1 }
    }
}
