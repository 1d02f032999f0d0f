import EventLog
import LedgerOperations
import PostgresStorage
import Testing

/// Several machines: a name is one machine's, and whoever was taken out for good has none.
extension `A cluster's journal in PostgreSQL` {
    // Each would take the other's lease for its own, and pass nothing on.
    @Test func `lets no second machine begin under a name that runs`() async throws {
        try await withMachines { machines in
            let first = machines[0]
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            try await eventually("to be seen") {
                try machines.journal.members().contains { $0.name == "a" && $0.age < 2 }
            }
            try machines.makeRoom("copied")
            func refusal() -> OperationFault.Code? {
                do {
                    _ = try machines.open("a", at: "copied")
                    return nil
                } catch { return (error as? OperationFault)?.code }
            }
            // A busy machine may not say in time that it is there.
            var refusals = [refusal()]
            while refusals.last == .nameTaken, refusals.count < 20 { refusals.append(refusal()) }
            #expect(refusals.last == .configuration, "\(refusals)")
            #expect(first.node.isLeading)
            // One that hangs may go on, or may have been killed.
            await first.halt()
            #expect(refusal() == .nameTaken)
            // The control: the name is free once its machine ended.
            await first.end()
            _ = try machines.open("a", at: "copied")
        }
    }

    @Test func `forgets a machine that was not seen of late, with its copies`() async throws {
        try await withMachines { machines in
            let journal = machines.journal
            for name in ["c", "d"] {
                try journal.note(ClusterMember(name: name, address: "", size: 1, generation: 0))
                #expect(
                    try journal.hold([1], as: ClusterMember.copiesName(of: name), insteadOf: nil)
                )
            }
            #expect(try !journal.forget("c", unseenFor: 10))
            try PostgresServers.sql(
                "UPDATE \(machines.schema.name).node SET seen = seen - interval '20 seconds' WHERE name = 'c'"
            )
            #expect(try journal.forget("c", unseenFor: 10))
            #expect(try !journal.forget("c", unseenFor: 10))
            #expect(try !journal.members().contains { $0.name == "c" })
            #expect(try journal.held(ClusterMember.copiesName(of: "c")) == nil)
            #expect(try journal.members().contains { $0.name == "d" })
            #expect(try journal.held(ClusterMember.copiesName(of: "d")) != nil)
        }
    }
}

extension OperationFault.Code? {
    fileprivate static var nameTaken: Self { .some(.init("name_taken", .tryAgain)) }
}
