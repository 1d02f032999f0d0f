import Encodings
import EntitlementLedger
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations
import PostgresStorage
import Testing

/// One master key opens what all machines have; another one takes its place while they run (row 9.5).
extension `A cluster's journal in PostgreSQL` {
    @Test func `is wrapped by another master key while machines go on`() async throws {
        try await withMachines { machines in
            let (first, second) = (machines[0], machines[1])
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            for number in 0..<3 { #expect(try first.grant(number).isAppended) }
            await second.end()
            let (old, new) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
            let key = try #require(try Self.key(of: machines.path("a")))
            func rotate(_ name: String, from old: [UInt8]) throws {
                let missed = try LedgerDirectory.rotateMasterKey(
                    at: machines.path(name),
                    from: old,
                    to: new,
                    in: machines.journal,
                    randomness: .system
                )
                #expect(missed.isEmpty)
            }
            let before = try machines.journal.keys()
            // Another key than the one that it has changes nothing, nor does a directory alone.
            #expect { try rotate("b", from: old) } throws: {
                ($0 as? LedgerOpenFault)?.code == .wrongKey
            }
            #expect {
                _ = try LedgerDirectory.rotateMasterKey(
                    at: machines.path("b"),
                    from: key,
                    to: new,
                    randomness: .system
                )
            } throws: { ($0 as? LedgerOpenFault)?.code == .clustered }
            #expect(try machines.journal.keys() == before)
            let copy = try Data(contentsOf: Self.keys(of: machines.path("b")))
            try rotate("b", from: key)
            let after = try machines.journal.keys()
            #expect(after.bytes != before.bytes && after.generation == before.generation)
            // Without the new key nobody begins, whatever its copy is wrapped by, and who leads erases nobody.
            try copy.write(to: Self.keys(of: machines.path("b")))
            #expect { try machines.open("b") } throws: {
                ($0 as? LedgerOpenFault)?.code == .wrongKey
            }
            #expect { try first.erase([2]) } throws: {
                ($0 as? LogStorageFault)?.code == .unreadable
            }
            #expect(try machines.note() == nil && first.mayUse(2), "nothing is begun")
            #expect(try machines.journal.keys() == after)
            #expect(try first.grant(4).isAppended)
            for name in ["a", "b"] { try Self.keep(new, at: machines.path(name)) }
            // Who leads wraps no keys by the old one that its own copy still has.
            #expect(try first.erase([1]) != nil)
            // A copy of before is wrapped by it, too, and is taken over with the cluster's keys.
            let again = try machines.open("b")
            again.begin()
            try await eventually("the other one to follow") {
                try again.size() == first.size() && again.generation == 1
            }
            for number in [0, 1, 2, 4] { #expect(try again.mayUse(number) == (number != 1)) }
            // What another machine has of its own is wrapped by the same command.
            try rotate("a", from: key)
            try await machines.endAndAudit()
        }
    }

    // The copy that was not there while the key was changed.
    @Test func `gives its keys to a copy that another master key wraps`() async throws {
        try await withMachines { machines in
            await machines.end()
            let new = [UInt8](repeating: 2, count: 32)
            let key = try #require(try Self.key(of: machines.path("a")))
            _ = try LedgerDirectory.rotateMasterKey(
                at: machines.path("a"),
                from: key,
                to: new,
                in: machines.journal,
                randomness: .system
            )
            let before = try FileManager.default.attributesOfItem(
                atPath: machines.path("b") + "/log/data.mdb"
            )
            try Self.keep(new, at: machines.path("b"))
            await (try machines.open("b")).end()
            let after = try FileManager.default.attributesOfItem(
                atPath: machines.path("b") + "/log/data.mdb"
            )
            let number = FileAttributeKey.systemFileNumber
            #expect(
                before[number] as? UInt64 == after[number] as? UInt64,
                "it is not filled anew for it"
            )
        }
    }

    // What the right key opens is not deleted for a wrong one.
    @Test func `leaves a copy as it was where another master key is given`() async throws {
        try await withMachines { machines in
            await machines.end()
            let place = machines.path("b")
            let key = try #require(try Self.key(of: place))
            // It would be filled again.
            try LedgerDirectory.markRefill(at: place, of: nil)
            try Self.keep([UInt8](repeating: 2, count: 32), at: place)
            let before = try Self.files(of: place)
            #expect(before["log/data.mdb"] != nil && before["vault/epoch-keys"] != nil)
            #expect { try machines.open("b") } throws: {
                ($0 as? LedgerOpenFault)?.code == .wrongKey
            }
            #expect(try Self.files(of: place) == before)
            // The control.
            try Self.keep(key, at: place)
            await (try machines.open("b")).end()
            #expect(!LedgerDirectory.needsRefill(at: place))
        }
    }

    // Whoever looks for what is the matter is not sent to the database, which answers.
    @Test func `is heard of by a machine that cannot follow it, which says why`() async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 3)
            let key = try #require(try Self.key(of: machines.path("a")))
            let new = [UInt8](repeating: 2, count: 32)
            _ = try LedgerDirectory.rotateMasterKey(
                at: machines.path("a"),
                from: key,
                to: new,
                in: machines.journal,
                randomness: .system
            )
            try Self.keep(new, at: machines.path("a"))
            #expect(try first.erase([1]) != nil)
            try await eventually("the other one to say why") {
                try second.node.standing().fault == "wrong_key" && second.node.fault != nil
            }
            // It has followed nothing for longer than a lease.
            try await eventually("an age") { second.node.answerAge ?? 0 >= 5 }
            try await eventually("that it hears of the database") {
                try second.node.standing().contactAge ?? .max < 5000
            }
        }
    }

    // An erasure that is on its way to them then puts nothing back.
    @Test func `stays as it was wrapped last, whatever erasure is under way`() async throws {
        try await withMachines { machines in
            let first = machines[0]
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            for number in 0..<3 { #expect(try first.grant(number).isAppended) }
            await machines[1].end()
            let holder = try PostgresConnection(PostgresServers.place(), within: 10)
            let table = machines.schema.name + ".vault_keys"
            func hold(_ text: String) throws {
                _ = try holder.exchange([.init(.init("", text))], within: 60_000)
            }
            let before = try machines.journal.keys()
            try hold("BEGIN")
            try hold("SELECT 1 FROM \(table) FOR UPDATE")
            let erasing = Task.detached { try first.erase([1]) }
            let waits =
                "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                + "AND query LIKE '%\(machines.schema.name).rotate%'"
            try await eventually("it waits") { try PostgresServers.sql(waits).count == 1 }
            try hold("UPDATE \(table) SET bytes = bytes || '\\x00'::bytea")
            try hold("COMMIT")
            await #expect(throws: LogStorageFault.self) { try await erasing.value }
            let after = try machines.journal.keys()
            #expect(after.bytes == before.bytes + [0] && after.generation == before.generation)
            // Who leads next finishes it, once the master key opens them again.
            try hold("UPDATE \(table) SET bytes = substr(bytes, 1, length(bytes) - 1)")
            try await eventually("the erasure's end") {
                try machines.note() == nil && first.generation == 1
            }
            for number in 0..<3 { #expect(try first.mayUse(number) == (number != 1)) }
            try await machines.endAndAudit(["a"])
        }
    }

    /// What stands in each file of a directory, by its path in it.
    private static func files(of path: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            // A folder is none.
            files[name] = FileManager.default.contents(atPath: path + "/" + name)
        }
        return files
    }

    private static func keys(of path: String) -> URL {
        URL(filePath: path + "/vault/epoch-keys")
    }

    private static func key(of path: String) throws -> [UInt8]? {
        let text = try String(contentsOfFile: path + "/key", encoding: .utf8)
        return Hexadecimal.decode(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private static func keep(_ key: [UInt8], at path: String) throws {
        let text = Hexadecimal.encode(key) + "\n"
        try text.write(toFile: path + "/key", atomically: true, encoding: .utf8)
    }
}
