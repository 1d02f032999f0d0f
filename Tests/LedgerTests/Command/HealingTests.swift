import Encodings
import Entitlements
import Foundation
import Testing

/// What is cheap to mend is mended where it stands, and nothing is lost by it (row 3.6, row Z5).
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `Healing in place` {
    /// Bytes of a page, and where a meta page has the number of its transaction (LMDB 0.9, `mdb.c`).
    private static let pageSize = 4096
    private static let transactionOffset = 144

    /// Lends a ledger whose last commit brought a customer.
    private static func granted(_ body: (CommandLedger) async throws -> Void) async throws {
        try await CommandLedger.with { ledger in
            for customer in ["ann", "bob", "cid"] {
                let granted = try await ledger.run(["grant", customer, "--tier", "pro"])
                #expect(granted.code == 0, "\(granted.errors)")
            }
            try await body(ledger)
        }
    }

    private static func content(_ ledger: CommandLedger, _ part: String) throws -> Data {
        try Data(contentsOf: URL(filePath: ledger.path + "/\(part)/data.mdb"))
    }

    /// Fills meta pages with zeros; the newer one has the higher transaction.
    private static func kill(
        _ ledger: CommandLedger,
        _ part: String,
        newer: Bool = false,
        older: Bool = false
    ) throws {
        var data = try content(ledger, part)
        let transactions = (0..<2).map { page in
            data[page * pageSize + transactionOffset..<page * pageSize + transactionOffset + 8]
                .reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        let newest = transactions[0] > transactions[1] ? 0 : 1
        for (page, isKilled) in [(newest, newer), (1 - newest, older)] where isKilled {
            data.resetBytes(in: page * pageSize..<(page + 1) * pageSize)
        }
        try data.write(to: URL(filePath: ledger.path + "/\(part)/data.mdb"))
    }

    @Test(arguments: ["log", "vault"])
    func `copies the other meta page over a dead one`(_ part: String) async throws {
        try await Self.granted { ledger in
            let events = try await ledger.run(["events"]).output
            try Self.kill(ledger, part, older: true)
            // The negative control: without it nobody is answered.
            let dead = try await ledger.run(["events"])
            #expect(dead.code == 3, "\(dead)")

            let healed = try await ledger.run(["salvage", "--heal"])
            #expect(healed.code == 0, "\(healed)")
            #expect(healed.json?["healed"]?.array?.map { $0["part"]?.string } == [part])
            #expect(try await ledger.run(["events"]).output == events)
            let granted = try await ledger.run(["grant", "dee", "--tier", "pro"])
            #expect(granted.code == 0, "\(granted.errors)")
            #expect(try await ledger.run(["audit"]).code == 0)
        }
    }

    @Test(arguments: ["log", "vault"])
    func `leaves a ledger as it is whose last commit would go`(_ part: String) async throws {
        try await Self.granted { ledger in
            // Behind the events of new streams the log removes what the vault has taken over.
            let granted = try await ledger.run(["grant", "ann", "--tier", "pro"])
            #expect(granted.code == 0, "\(granted.errors)")
            try Self.kill(ledger, part, newer: true)
            let damaged = try Self.content(ledger, part)
            let refused = try await ledger.run(["salvage", "--heal"])
            #expect(refused.code == 3, "\(refused)")
            #expect(refused.problemCode == "damaged")
            #expect(try Self.content(ledger, part) == damaged)
            // A salvage has all of it.
            let rescued = try await ledger.run(["salvage", "--into", ledger.path + "-new"])
            #expect(rescued.code == 0, "\(rescued)")
        }
    }

    @Test func `has nothing to copy where both meta pages are dead`() async throws {
        try await Self.granted { ledger in
            try Self.kill(ledger, "log", newer: true, older: true)
            let damaged = try Self.content(ledger, "log")
            let refused = try await ledger.run(["salvage", "--heal"])
            #expect(refused.code == 3, "\(refused)")
            #expect(refused.json?["ok"]?.bool == false)
            #expect(try Self.content(ledger, "log") == damaged)
        }
    }

    @Test func `puts a copy back that an audit does not call sound`() async throws {
        try await Self.granted { ledger in
            try Self.kill(ledger, "log", older: true)
            // Keys that are lost are none of the log's meta pages' fault, and stay lost.
            try Data().write(to: URL(filePath: ledger.path + "/vault/journal"))
            try Self.kill(ledger, "vault", newer: true, older: true)
            let damaged = try Self.content(ledger, "log")
            let refused = try await ledger.run(["salvage", "--heal"])
            #expect(refused.code == 3, "\(refused)")
            #expect(try Self.content(ledger, "log") == damaged)
        }
    }

    // Lost or foreign lock files are made anew by whoever opens the ledger.
    @Test(arguments: [nil, Data("no lock of ours".utf8), Data(count: 8192)])
    func `needs no lock file`(_ content: Data?) async throws {
        try await Self.granted { ledger in
            for name in ["/log/lock.mdb", "/vault/lock.mdb", "/writer.lock"] {
                let file = URL(filePath: ledger.path + name)
                try FileManager.default.removeItem(at: file)
                try content?.write(to: file)
            }
            let shown = try await ledger.run(["show", "ann"])
            #expect(shown.code == 0, "\(shown.errors)")
            let granted = try await ledger.run(["grant", "dee", "--tier", "pro"])
            #expect(granted.code == 0, "\(granted.errors)")
            let healed = try await ledger.run(["salvage", "--heal"])
            #expect(healed.code == 0, "\(healed)")
            #expect(healed.json?["healed"]?.array?.isEmpty == true)
        }
    }

    @Test func `writes a lost journal anew`() async throws {
        try await Self.granted { ledger in
            let journal = URL(filePath: ledger.path + "/vault/journal")
            let whole = try Data(contentsOf: journal)
            try whole.dropFirst(whole.count / 2).write(to: journal)
            let damaged = try await ledger.run(["audit"])
            #expect(damaged.code == 3, "\(damaged)")
            let faults = damaged.json?["faults"]?.array ?? []
            #expect(faults.map { $0["kind"]?.string } == ["vault"], "\(damaged)")
            #expect(faults.first?["hint"]?.string?.contains("salvage --heal") == true)
            let healed = try await ledger.run(["salvage", "--heal"])
            #expect(healed.code == 0, "\(healed)")
            #expect(healed.json?["healed"]?.array?.map { $0["part"]?.string } == ["journal"])
            let audit = try await ledger.run(["audit"])
            #expect(audit.code == 0, "\(audit)")
        }
    }

    @Test func `folds damaged views anew`() async throws {
        try await Self.granted { ledger in
            let shown = try await ledger.show("ann")
            for file in try ViewFiles(below: ledger.path + "/views").files {
                try file.change { data in
                    for byte in data.indices { data[byte] ^= 0x5A }
                }
            }
            // The negative control: somebody sees that they are damaged.
            let audit = try await ledger.run(["audit"])
            #expect(audit.code == 3, "\(audit)")
            let healed = try await ledger.run(["salvage", "--heal"])
            #expect(healed.code == 0, "\(healed)")
            #expect(try await ledger.show("ann")["tier"] == shown["tier"])
            #expect(try await ledger.run(["audit"]).code == 0)
        }
    }

    @Test func `waits for nobody who writes, and takes nothing from copies`() async throws {
        try await ScratchLedger.with { scratch in
            let locked = try await EntitleCommand.run(
                ["salvage", "--heal", "--json", "--ledger", scratch.path]
            )
            #expect(locked.code == 75, "\(locked)")
            try scratch.close()
            let both = try await EntitleCommand.run(
                ["salvage", "--heal", "--archive", "a", "--json", "--ledger", scratch.path]
            )
            #expect(both.code == 64, "\(both)")
        }
    }
}
