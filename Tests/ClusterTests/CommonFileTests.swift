import Encodings
import EventLog
import Foundation
import LedgerOperations
import PostgresStorage
import Synchronization
import Testing

/// Several machines: what they hold in common beside log and vault.
extension `A cluster's journal in PostgreSQL` {
    // A key that is revoked at one machine lets nobody in at another.
    @Test func `has API keys in common`() async throws {
        try await withMachines { machines in
            try "first\n".write(toFile: keys(of: "a", machines), atomically: true, encoding: .utf8)
            machines[0].begin()
            machines[1].begin()
            try await eventually("the other one to have it") { lines("b", machines) == ["first"] }
            try add("second", at: machines[1])
            #expect(lines("b", machines) == ["first", "second"])
            try await eventually("the first one to have it") {
                lines("a", machines) == ["first", "second"]
            }
            // What was changed while a machine was away counts before it lets anybody in.
            await machines[1].end()
            try remove("first", at: machines[0])
            let again = try machines.open("b")
            #expect(lines("b", machines) == ["second"])
            // A directory has a copy, which is made again whatever stands there.
            again.begin()
            try "first\n".write(toFile: keys(of: "b", machines), atomically: true, encoding: .utf8)
            try await eventually("the copy") { lines("b", machines) == ["second"] }
            #expect(lines("a", machines) == ["second"])
        }
    }

    // A database that was restored lets nobody in again who was shut out.
    @Test func `takes nothing over that is not to count`() async throws {
        try await withMachines { machines in
            try add("theirs", at: machines[0])
            let place = keys(of: "b", machines)
            try "ours\n".write(toFile: place, atomically: true, encoding: .utf8)
            let path = machines.path("b")
            #expect(throws: JournalFault.self) {
                try CommonFiles.meet(at: path, in: machines.journal) {
                    throw JournalFault(.otherHistory, "a test")
                }
            }
            #expect(lines("b", machines) == ["ours"])
            // The control.
            try CommonFiles.meet(at: path, in: machines.journal)
            #expect(lines("b", machines) == ["theirs"])
        }
    }

    // Changes at two machines are changes of one list, one after the other.
    @Test func `loses no change of API keys that is made at two machines at once`() async throws {
        try await withMachines { machines in
            machines[0].begin()
            machines[1].begin()
            let count = 20
            for number in 0..<count { try add("old \(number)", at: machines[0]) }
            await withTaskGroup(of: Void.self) { group in
                for machine in [machines[0], machines[1]] {
                    group.addTask {
                        await onThread {
                            for number in 0..<count {
                                #expect(throws: Never.self) {
                                    try add("new \(number) of \(machine.name)", at: machine)
                                    let isOwn = number.isMultiple(of: 2) == (machine.name == "a")
                                    if isOwn { try remove("old \(number)", at: machine) }
                                }
                            }
                        }
                    }
                }
            }
            let expected = Set(
                ["a", "b"].flatMap { name in (0..<count).map { "new \($0) of \(name)" } }
            )
            for name in ["a", "b"] {
                try await eventually("\(name) to have all") {
                    Set(lines(name, machines)) == expected
                }
                #expect(lines(name, machines).count == expected.count)
            }
        }
    }

    // An erasure that is noted on one machine alone would be forgotten with it.
    @Test func `waits for the standby, whatever the role says`() async throws {
        try PostgresServers.sql("DROP ROLE IF EXISTS hasty")
        try PostgresServers.sql("CREATE ROLE hasty SUPERUSER LOGIN")
        try PostgresServers.sql("ALTER ROLE hasty SET synchronous_commit = off")
        let cluster = try ScratchCluster()
        let journal = cluster.other(patience: 60_000, user: "hasty")
        PostgresServers.act(.freeze, on: "b")
        defer { PostgresServers.act(.thaw, on: "b") }
        // The role's own commit waits for nobody.
        let own = try PostgresConnection(PostgresServers.place(user: "hasty"), within: 10)
        let text = "INSERT INTO \(cluster.schema.name).held VALUES ('own', '', '1')"
        let replies = try own.exchange([.init(.init("", text))], within: 10_000)
        #expect(replies.replies == [.rows([])])
        let outcomes = Mutex<[Bool]>([])
        async let kept = onThread {
            let isKept = try? journal.hold([1], as: "erasure", insteadOf: nil)
            outcomes.withLock { $0.append(isKept ?? false) }
        }
        try await Task.sleep(for: .seconds(2))
        #expect(outcomes.withLock(\.self) == [], "nobody is told before the standby has it")
        PostgresServers.act(.thaw, on: "b")
        await kept
        #expect(outcomes.withLock(\.self) == [true])
        #expect(try journal.held("erasure") == [1])
        #expect(try !journal.hold([2], as: "erasure", insteadOf: [3]))
        #expect(try journal.hold([2], as: "erasure", insteadOf: [1]))
    }
}

func keys(of name: String, _ machines: Machines) -> String {
    machines.path(name) + "/keys.json"
}

func lines(_ name: String, _ machines: Machines) -> [String] {
    // A file that is not there yet has none.
    let text = try? String(contentsOfFile: keys(of: name, machines), encoding: .utf8)
    return (text ?? "").split(separator: "\n").map(String.init)
}

func add(_ line: String, at machine: Machine) throws {
    try machine.node.changeCommonFile("keys.json") { ($0 ?? []) + Array((line + "\n").utf8) }
}

private func remove(_ line: String, at machine: Machine) throws {
    try machine.node.changeCommonFile("keys.json") { bytes in
        let lines = String(decoding: bytes ?? [], as: UTF8.self).split(separator: "\n")
        return Array(lines.filter { $0 != line }.map { $0 + "\n" }.joined().utf8)
    }
}
