import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations
import PostgresStorage
import Testing

/// A database that came back as it was earlier: nobody cuts, nobody leads, and the machine that has most gives the
/// cluster back what was confirmed (Several machines; row Z9).
extension `A cluster's journal in PostgreSQL` {
    /// What happened since the moment to which the database is restored.
    enum Since: String, CaseIterable, Sendable {
        case grants, erasure
    }

    @Test(arguments: Since.allCases)
    func `is led by nobody where it was restored to less, and goes on from a copy`(
        _ since: Since
    ) async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 4)
            try first.node.changeCommonFile("keys.json") { _ in Array("earlier".utf8) }
            try machines.save()
            let keys = Array("a list of keys".utf8)
            try first.node.changeCommonFile("keys.json") { _ in keys }
            if since == .erasure { _ = try #require(try first.erase([1])) }
            for number in 4..<7 { #expect(try first.grant(number).isAppended) }
            let size = try first.size()
            try await eventually("the other one to know") {
                try second.size() == size && second.generation == first.generation
                    && machines.keys(of: "b") == keys
            }
            try machines.restore()
            for machine in [first, second] {
                try await eventually("\(machine.name) to say so") {
                    try machine.node.standing().fault == "other_history" && !machine.node.isLeading
                }
                #expect { try machine.grant(9) } throws: {
                    ($0 as? LogStorageFault)?.code == .noLeader
                }
            }
            // Whoever begins with nothing leads neither: others said what they have.
            try machines.makeRoom("c")
            let third = try machines.open("c")
            third.begin()
            try await eventually("the new one to say so") {
                try third.node.standing().fault == "other_history"
            }
            #expect(try third.size() < size)
            // It has all that the database has, and knows of more from its beginning (row Z17).
            #expect(third.node.answerAge != nil)
            for machine in [first, second] { #expect(try machine.mayUse(6)) }
            await machines.end()
            // What was noted to be damaged is not made of less.
            try LedgerDirectory.markRefill(at: machines.path("b"), of: size)
            #expect { try machines.open("b") } throws: {
                ($0 as? JournalFault)?.code == .otherHistory
            }
            try FileManager.default.removeItem(atPath: machines.path("b") + "/refill")
            // A machine that begins anew reads on, and takes nothing over.
            let again = try machines.open("b")
            again.begin()
            try await eventually("it to say so") {
                try again.node.standing().fault == "other_history"
            }
            #expect(try again.size() == size && again.mayUse(6))
            await again.end()
            for name in ["a", "b"] {
                #expect(machines.keys(of: name) == keys, "who was shut out is not let in again")
            }
            #expect(try machines.findings() == [.restored])
            // The copy that lacks some is refused.
            #expect { try machines.goOn(from: "c") } throws: {
                ($0 as? OperationFault)?.code == .configuration
            }
            let place = machines.schema.name + ".held"
            try PostgresServers.sql("INSERT INTO \(place) VALUES ('erasure', '', 'a note')")
            let term = try machines.journal.row().lease.leadership.term
            try machines.goOn(from: "a")
            // What one of its leaders sends yet is refused, and what was not finished is not forgotten.
            #expect(try machines.journal.row().lease.leadership.term == term + 1)
            #expect(try machines.note() == Array("a note".utf8))
            try PostgresServers.sql("DELETE FROM \(place) WHERE kind = 'erasure'")
            #expect(try machines.findings() == [])
            #expect { try machines.goOn(from: "a") } throws: {
                ($0 as? OperationFault)?.code == .configuration
            }
            let all = try ["a", "b", "c"].map { try machines.open($0) }
            #expect(try machines.journal.held("keys.json") == keys)
            for machine in all { machine.begin() }
            try await eventually("a leader") { all.contains { $0.node.isLeading } }
            let leader = try #require(all.first { $0.node.isLeading })
            #expect(try leader.grant(8).isAppended)
            try await eventually("all to follow") {
                try all.allSatisfy { try $0.size() == leader.size() }
            }
            for machine in all {
                for number in [0, 1, 2, 6, 8] {
                    #expect(try machine.mayUse(number) == (since == .grants || number != 1))
                }
            }
            try await machines.endAndAudit(["a", "b", "c"])
        }
    }

    // A machine that was away while the database was restored follows it, and leads, unless others said more.
    @Test func `goes its own way only where nobody knows more, and nothing of it is lost then`()
        async throws
    {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 3)
            try machines.save()
            await second.end()
            for number in 3..<5 { #expect(try first.grant(number).isAppended) }
            let size = try first.size()
            await first.end()
            try machines.restore()
            // Nobody who knows more is there to say so.
            let again = try machines.open("b")
            again.begin()
            try await eventually("it to lead") { again.node.isLeading }
            #expect(try again.grant(10).isAppended)
            await again.end()
            // Shorter it is yet, and no earlier state of the longer one.
            #expect(try machines.journal.row().end.size < size)
            #expect { try machines.goOn(from: "a") } throws: {
                ($0 as? OperationFault)?.message.contains("recorded something else") == true
            }
            let oneMore = try machines.open("b")
            oneMore.begin()
            try await eventually("it to lead again") { oneMore.node.isLeading }
            for number in 11..<14 { #expect(try oneMore.grant(number).isAppended) }
            await oneMore.end()
            // Both recorded something: neither is cut for the other.
            #expect { try machines.open("a") } throws: {
                ($0 as? JournalFault)?.code == .otherHistory
            }
            #expect { try machines.goOn(from: "a") } throws: {
                ($0 as? OperationFault)?.code == .configuration
            }
            let key = try MasterKey.read(machines.path("a") + "/key")
            #expect(LedgerDirectory.copyEnd(at: machines.path("a"), masterKey: key).size == size)
            #expect(try machines.audit("a").faults.isEmpty)
        }
    }

    // Who led without it would record something else in its place; what is erased can be read on each machine.
    @Test func `goes on from no copy that lacks what a machine said it has, and forgets none`()
        async throws
    {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 3)
            // One that was taken out for good, and made copies.
            let gone = ClusterMember(name: "d", address: "", size: 1, generation: 0)
            try machines.journal.note(gone)
            #expect(try machines.journal.hold([1], as: gone.copiesName, insteadOf: nil))
            try machines.save()
            for number in 3..<5 { #expect(try first.grant(number).isAppended) }
            let size = try first.size()
            try await eventually("the other one to know") { try second.size() == size }
            await second.end()
            #expect(try first.grant(5).isAppended)
            let most = try first.size()
            try machines.restore()
            try await eventually("the first one to say what it has") {
                try machines.journal.members().contains { $0.name == "a" && $0.size == most }
            }
            await machines.end()
            #expect { try machines.goOn(from: "b") } throws: {
                let fault = $0 as? OperationFault
                let hint = fault?.hint ?? ""
                return fault?.message.contains("the machine a has \(most) events") == true
                    && hint.contains("--from a") && hint.contains("forget a --lose-what-it-has")
            }
            // What `entitle cluster forget` does, where that machine is lost, too.
            #expect(try machines.journal.forget("a", unseenFor: 0))
            try machines.goOn(from: "b")
            #expect(try machines.journal.members().map(\.name) == ["b", "d"])
            #expect(try machines.journal.held(gone.copiesName) == [1])
            let again = try machines.open("b")
            again.begin()
            try await eventually("it to lead") { again.node.isLeading }
            #expect(try again.size() == size)
            let receipt = try #require(try again.erase([1]))
            #expect(receipt.machines == ["d"])
            #expect(receipt.backups.missed.map(\.path) == ["d:backups.json"])
            try await machines.endAndAudit(["b"])
        }
    }

    // What was held in common goes on from the copy, too, but for what only the database knew.
    @Test func `takes a new database for one that is gone`() async throws {
        try await withMachines { machines in
            let (first, _) = try await machines.begin(granting: 2)
            let size = try first.size()
            let keys = Array("a list of keys".utf8)
            try first.node.changeCommonFile("keys.json") { _ in keys }
            await machines.end()
            try PostgresServers.sql("DROP SCHEMA \(machines.schema.name) CASCADE")
            #expect { try machines.open("a") } throws: { ($0 as? JournalFault)?.code == .missing }
            try machines.goOn(from: "a")
            for name in ["b", "a"] {
                let again = try machines.open(name)
                #expect(try again.size() == size && again.mayUse(1))
                await again.end()
            }
            #expect(try machines.journal.held("keys.json") == keys)
        }
    }
}

extension Machines {
    /// Keeps what the database has, beside it.
    fileprivate func save() throws {
        let name = schema.name
        try PostgresServers.sql(
            """
            DO $$ DECLARE t text; BEGIN
              CREATE SCHEMA \(name)_saved;
              FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = '\(name)' LOOP
                EXECUTE format('CREATE TABLE \(name)_saved.%I AS TABLE \(name).%I', t, t);
              END LOOP;
            END $$
            """
        )
    }

    /// Has the database as it was kept.
    fileprivate func restore() throws {
        // Machines go on meanwhile, and lock tables in orders of their own: who loses begins anew.
        for _ in 0..<100 {
            do { return try replaceAll() } catch let refusal as PostgresRefusal {
                guard refusal.state == Self.deadlock else { throw refusal }
            }
        }
        try replaceAll()
    }

    /// `deadlock_detected` (PostgreSQL, "Error Codes").
    private static let deadlock = "40P01"

    private func replaceAll() throws {
        let name = schema.name
        try PostgresServers.sql(
            """
            DO $$ DECLARE t text; BEGIN
              FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = '\(name)' ORDER BY 1 LOOP
                EXECUTE format('LOCK TABLE \(name).%I', t);
              END LOOP;
              FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = '\(name)' LOOP
                EXECUTE format('DELETE FROM \(name).%I', t);
                EXECUTE format('INSERT INTO \(name).%I TABLE \(name)_saved.%I', t, t);
              END LOOP;
            END $$
            """
        )
    }

    /// The list of API keys as a machine has it; nil: it has none yet.
    fileprivate func keys(of name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: path(name) + "/keys.json").map(Array.init)
    }

    /// What a check of the cluster's database finds.
    fileprivate func findings() throws -> [ClusterFinding.Code] {
        let folder = try #require(PostgresServers.folder)
        return ClusterCheck.findings(
            of: "host=\(folder),\(folder) port=5432,5433 user=postgres dbname=postgres "
                + "target_session_attrs=read-write",
            schema: schema,
            now: SystemClock.now().milliseconds
        ).map(\.code)
    }

    /// What `entitle cluster init --from` does.
    fileprivate func goOn(from name: String) throws {
        try OpenLedger(copyAt: path(name), options: .init(key: .file(path(name) + "/key")))
            .lend(warn: { _ in }) { open in
                let maker = try JournalMaker(
                    PostgresServers.place(),
                    schema: schema,
                    insteadOf: open.requireContinuation(of:_:_:)
                )
                _ = try open.directory.load(into: maker, allowsAsynchronous: false)
                try CommonFiles.meet(at: path(name), in: journal)
            }
    }
}
