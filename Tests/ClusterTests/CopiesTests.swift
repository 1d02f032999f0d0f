import Entitlements
import EventLog
import Foundation
import LedgerAPI
import PostgresStorage
import Synchronization
import Testing

@testable import LMDBStorage
@testable import LedgerOperations

/// An erasure names backups and exports of every machine, whichever erases (Several machines).
extension `A cluster's journal in PostgreSQL` {
    @Test func `names in a receipt the backups and exports of other machines`() async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 4)
            let (near, far) = (machines.path("near"), machines.path("far"))
            for path in [near, far] { try second.backUp(to: path) }
            // The mount is gone.
            try FileManager.default.moveItem(atPath: far, toPath: far + "-away")
            for number in [1, 2] {
                let streams = try first.streams(of: number)
                try second.noteExport("/exports/\(number)", of: streams)
            }
            try second.noteExport("/exports/all", of: nil)
            try await eventually("the others to be told") { try machines.isTold(of: 3, by: "b") }
            let receipt = try #require(try first.erase([2]))
            #expect(receipt.machines == [])
            #expect(receipt.backups.reached == ["b:" + near], "it followed with its machine")
            #expect(receipt.backups.missed.map(\.path) == ["b:" + far])
            #expect(receipt.exports == ["b:/exports/2", "b:/exports/all"])
            #expect(receipt.note.contains("\nexport b:/exports/2\n"))
            // The machine itself names them as its own.
            await first.end()
            try await eventually("the other one to lead") { second.node.isLeading }
            let own = try second.node.open.directory.vault.erasedCopies(of: receipt.streams)
            #expect(own.reached == [near] && own.missed.map(\.path) == [far])
            #expect(own.exports == ["/exports/2", "/exports/all"])
        }
    }

    // A path may say more than who runs the database is to know.
    @Test func `holds lists of copies sealed, and names one that opens no more`() async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 2)
            try second.noteExport("/exports/somebody", of: [])
            try await eventually("the others to be told") { try machines.isTold(of: 1, by: "b") }
            let held = try #require(try machines.journal.held("copies/b"))
            #expect(!String(decoding: held, as: UTF8.self).contains("somebody"))
            #expect(try first.erase([1])?.exports == [], "the control: it holds nobody of them")
            await second.end()
            try PostgresServers.sql(
                "UPDATE \(machines.schema.name).held SET bytes = 'x' WHERE kind = 'copies/b'"
            )
            let receipt = try #require(try first.erase([0]))
            #expect(receipt.exports == ["b:exports.ndjson"])
            #expect(receipt.backups.missed.map(\.path) == ["b:backups.json"])
        }
    }

    // Reads go on where the standby is away.
    @Test func `has a machine begin that cannot tell of its copies yet`() async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 2)
            try second.noteExport("/exports/all", of: nil)
            try await eventually("the others to be told") { try machines.isTold(of: 1, by: "b") }
            for machine in [first, second] { await machine.end() }
            try PostgresServers.sql(
                "UPDATE \(machines.schema.name).node SET seen = seen - interval '1 hour'"
            )
            PostgresServers.act(.freeze, on: "b")
            defer { PostgresServers.act(.thaw, on: "b") }
            let again = try machines.open("b", patience: 1000)
            #expect(try again.mayUse(1))
            #expect(try machines.journal.members().contains { $0.name == "b" && $0.age < 60 })
            PostgresServers.act(.thaw, on: "b")
            try again.noteExport("/exports/more", of: nil)
            // A database that may be waited for is left alone for a minute.
            let node = again.node
            try node.tellCopies()
            let isUntold = node.state.withLock { $0.untold != nil }
            #expect(isUntold)
            // An erasure that is followed meanwhile shows that it takes changes again.
            node.state.withLock { state in
                guard let untold = state.untold else { return }
                state.untold = (untold.at, untold.generation + 1, untold.said)
            }
            try await eventually("the others to be told again") {
                try node.tellCopies()
                return try machines.isTold(of: 2, by: "b")
            }
            #expect(node.saidGeneration == again.generation)
        }
    }

    // What a directory listed is known to the cluster; so is, to the one that goes on, what all listed.
    @Test func `keeps lists of copies where a directory is made again, or goes on alone`()
        async throws
    {
        try await withMachines { machines in
            let (_, second) = try await machines.begin(granting: 2)
            try second.backUp(to: machines.path("kept"))
            try second.noteExport("/exports/all", of: nil)
            try await eventually("the others to be told") { try machines.isTold(of: 1, by: "b") }
            await second.end()
            try FileManager.default.removeItem(atPath: machines.path("b"))
            try machines.makeRoom("b")
            let again = try machines.open("b")
            let own = try again.node.open.directory.vault.erasedCopies(of: [])
            #expect(own.reached == [machines.path("kept")])
            #expect(own.exports == ["/exports/all"])
            await machines.end()
            _ = try machines.leave("a")
            let options = OpenLedger.Options(key: .file(machines.path("a") + "/key"))
            try OpenLedger(at: machines.path("a"), options: options).lend(warn: { _ in }) { open in
                let copies = try open.directory.vault.erasedCopies(of: [])
                #expect(copies.missed.map(\.path) == ["b:" + machines.path("kept")])
                #expect(copies.exports == ["b:/exports/all"])
            }
        }
    }
}

extension Machine {
    fileprivate func backUp(to path: String) throws {
        let backup = try LedgerBackup(of: node.open, into: path)
        let place = node.open.directory.path
        let key = try OpenLedger.Options(key: .file(place + "/key")).key.read(of: place)
        let outcome = try backup.write(log: false, vault: key, warn: { _ in })
        guard case .written = outcome else {
            Issue.record("the backup is not what was written")
            return
        }
    }

    fileprivate func noteExport(_ path: String, of streams: [UInt64]?) throws {
        let streams = streams.map { "\($0)" } ?? "null"
        try LedgerDirectory.noteExports(
            [#"{"path":"\#(path)","streams":\#(streams)}"#],
            at: node.open.directory.path
        )
    }

    fileprivate func streams(of number: Int) throws -> [UInt64] {
        let subject = "customer/" + (try Self.customer(number).text)
        let name = StreamName(environment: 0, subject: subject)
        return [try #require(try node.open.directory.vault.stream(of: name))]
    }
}

extension Machines {
    /// Whether the cluster holds so many exports of a machine.
    fileprivate func isTold(of count: Int, by name: String) throws -> Bool {
        guard let held = try journal.held("copies/" + name) else { return false }
        let seal = self[0].node.open.directory.vault.copiesSeal
        return try MachineCopies(opening: held, by: seal, of: name).exports.count == count
    }
}
