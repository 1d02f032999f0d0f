import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import LedgerOperations
import PostgresStorage
import Stores
import Synchronization
import Testing

@testable import LMDBStorage

/// Who is erased from a cluster is erased on every machine, whoever leads meanwhile (row 9.5).
extension `A cluster's journal in PostgreSQL` {
    @Test func `erases a customer on every machine`() async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 5)
            // Who follows erases nobody.
            #expect { try second.erase([2]) } throws: {
                ($0 as? LogStorageFault)?.code == .noLeader
            }
            let receipt = try #require(try first.erase([2]))
            #expect(receipt.generation == 1)
            #expect(receipt.machines == [], "it waits a moment for who is there")
            #expect(try first.erase([2]) == receipt, "what was asked for before has its answer")
            try await eventually("the other one to follow") {
                try second.size() == first.size() && second.generation == 1
            }
            for machine in [first, second] {
                for number in 0..<5 { #expect(try machine.mayUse(number) == (number != 2)) }
                #expect(try machine.isErased(receipt.streams))
            }
            // The name is free, and what comes goes by the new keys.
            #expect(try first.grant(2, again: true).isAppended)
            try await eventually("the other one to know") { try second.mayUse(2) }
            let question =
                "SELECT 1 FROM pg_stat_user_tables WHERE schemaname = '\(machines.schema.name)' "
                + "AND relname = 'vault_keys' AND vacuum_count > 0"
            try await eventually("a vacuum") { try PostgresServers.sql(question).count == 1 }
            try await machines.endAndAudit()
            // A machine that has nothing gets what is left.
            try FileManager.default.removeItem(atPath: machines.path("b") + "/ledger.json")
            let again = try machines.open("b")
            for number in 0..<5 { #expect(try again.mayUse(number)) }
            #expect(try again.isErased(receipt.streams))
            await again.end()
            #expect(try machines.audit("b").faults.isEmpty)
            #expect(try machines.note() == nil)
        }
    }

    // Steps of an erasure that its leader does not come to.
    @Test(arguments: ["rotate", "note"])
    func `finishes an erasure that a leader left half done`(_ step: String) async throws {
        try await withMachines { machines in
            let (first, second) = (machines[0], machines[1])
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            second.begin()
            for number in 0..<3 { #expect(try first.grant(number).isAppended) }
            if step == "rotate" {
                let function = "ALTER FUNCTION \(machines.schema.name)."
                try PostgresServers.sql(function + "rotate RENAME TO gone")
                #expect(throws: LogStorageFault.self) { try first.erase([1]) }
                #expect(try machines.note() != nil)
                await first.end()
                try PostgresServers.sql(function + "gone RENAME TO rotate")
            } else {
                // Noted, and said by no event.
                try first.node.open.directory.vault.prepare(
                    VaultErasure(streams: [1], signal: SignalDigest(high: 1, low: 1))
                )
                #expect(try machines.note() != nil)
                await first.end()
            }
            try await eventually("the other one to lead") { second.node.isLeading }
            try await eventually("the note to go") { try machines.note() == nil }
            #expect(second.generation == (step == "rotate" ? 1 : 0))
            for number in 0..<3 {
                #expect(try second.mayUse(number) == (step == "note" || number != 1))
            }
            #expect(try second.erase([0])?.generation == (step == "rotate" ? 2 : 1))
            let again = try machines.open("a")
            again.begin()
            try await eventually("the first to follow") { try again.size() == second.size() }
            #expect(try !again.mayUse(0))
            #expect(try again.mayUse(2))
            try await machines.endAndAudit()
        }
    }

    // Whom the log says to be erased may have names and keys for as long as nobody leads.
    @Test func `answers nothing about whom it finds half erased at its start`() async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 3)
            try PostgresServers.sql(
                "ALTER FUNCTION \(machines.schema.name).rotate RENAME TO gone"
            )
            #expect(throws: LogStorageFault.self) { try first.erase([1]) }
            let size = try first.size()
            try await eventually("the other one to know") { try second.size() == size }
            await second.end()
            let again = try machines.open("b")
            #expect(again.generation == 0, "its keys stand")
            for number in 0..<3 { #expect(try again.mayUse(number) == (number != 1)) }
        }
    }

    // Killed between the commit and the replacement of its keys it would keep for good those of whom was erased.
    @Test func `destroys at its start the keys that it was killed beside`() async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 3)
            let place = machines.path("b")
            let masterKey = try MasterKey.read(place + "/key")
            let file = EpochKeyFile(vaultPath: place + "/vault", masterKey: masterKey)
            let old = try file.read()
            #expect(try first.erase([1]) != nil)
            try await eventually("the other one to follow") { second.generation == 1 }
            await second.end()
            var randomness = RandomSource.system
            try file.write(try file.read().beside(old), using: &randomness)
            #expect(try !file.read().replaced.isEmpty)
            let again = try machines.open("b")
            #expect(try file.read().replaced.isEmpty && again.generation == 1)
            for number in 0..<3 { #expect(try again.mayUse(number) == (number != 1)) }
            // A vault with keys of before is copied to no backup.
            let directory = again.node.open.directory
            let copied = try directory.copyVault(to: place + "-copy", masterKey: masterKey)
            #expect(copied.erased == 1)
        }
    }

    // A disk that is full between the commit and the last small write: no later look would come back to it.
    @Test func `says that it has not followed while its disk keeps the keys of before`()
        async throws
    {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 3)
            await second.halt()
            #expect(try first.erase([1])?.machines == ["b"])
            let place = machines.path("b") + "/vault"
            let masterKey = try MasterKey.read(machines.path("b") + "/key")
            let file = EpochKeyFile(vaultPath: place, masterKey: masterKey)
            // What stands there is not written over.
            let hindrance = place + "/" + EpochKeys.fileName + ".new"
            let vault = second.node.open.directory.vault
            try vault.drawIn()
            let isHeld = Atomic(false)
            async let holding: Void = onThread {
                do {
                    // Whoever follows waits for the vault meanwhile, between its two small writes.
                    try vault.names.rotate(to: 0) { _ in
                        isHeld.store(true, ordering: .releasing)
                        let end = ContinuousClock.now + .seconds(60)
                        while try file.read().generation == 0, ContinuousClock.now < end {
                            Thread.sleep(forTimeInterval: 0.001)
                        }
                        try FileManager.default.createDirectory(
                            atPath: hindrance,
                            withIntermediateDirectories: false
                        )
                        throw CancellationError()
                    }
                } catch {
                    // Nothing was changed in it.
                }
            }
            try await eventually("the vault to be held") { isHeld.load(ordering: .acquiring) }
            second.begin()
            await holding
            try await eventually("it to follow") {
                try second.size() == first.size() && second.generation == 1
            }
            for number in 0..<3 { #expect(try second.mayUse(number) == (number != 1)) }
            #expect(try !file.read().replaced.isEmpty, "the hindrance is one")
            #expect(try first.erase([1])?.machines == ["b"], "what was erased can be read there")
            try FileManager.default.removeItem(atPath: hindrance)
            try await eventually("the keys of before to go") { try file.read().replaced.isEmpty }
            try await eventually("it to say so") { try first.erase([1])?.machines == [] }
            try await machines.endAndAudit()
        }
    }

    // Erasures that a machine slept through reach it at once.
    @Test func `catches up with erasures, and erases nobody after another one leads`() async throws
    {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 6)
            await second.halt()
            for number in [1, 3] {
                #expect(try first.erase([number])?.machines == ["b"], "it has not followed")
            }
            #expect(try first.grant(3, again: true).isAppended)
            await first.halt()
            second.begin()
            try await eventually("the other one to lead") { second.node.isLeading }
            #expect(second.generation == 2)
            #expect(try !second.mayUse(1))
            for number in [0, 2, 3, 4, 5] { #expect(try second.mayUse(number)) }
            // It does not know that it leads no more.
            #expect(throws: LogStorageFault.self) { try first.erase([0]) }
            #expect(try second.mayUse(0))
            // What it noted is in nobody's way.
            #expect(try machines.note() != nil)
            #expect(try second.erase([4, 5])?.streams.count == 2)
            #expect(try machines.note() == nil)
            #expect(try second.mayUse(0))
            try await machines.endAndAudit(["b"])
        }
    }

    // The journal has a tombstone where its batch had a name and keys.
    @Test func `follows a customer who came and was erased while it was away`() async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 2)
            await second.halt()
            #expect(try first.grant(2).isAppended)
            let receipt = try #require(try first.erase([2]))
            #expect(try first.grant(3).isAppended)
            second.begin()
            try await eventually("the other one to follow") {
                try second.size() == first.size() && second.generation == 1
            }
            for number in 0..<4 { #expect(try second.mayUse(number) == (number != 2)) }
            #expect(try second.isErased(receipt.streams))
            // The name is free.
            #expect(try first.grant(2, again: true).isAppended)
            try await eventually("the other one to know") { try second.mayUse(2) }
            #expect(try first.erase([3])?.generation == 2)
            try await eventually("it to follow again") { second.generation == 2 }
            try await machines.endAndAudit()
        }
    }

    // As on a disk that was full between the two.
    @Test func `follows an erasure of whom its vault has and its log does not`() async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 2)
            await second.halt()
            #expect(try first.grant(2).isAppended)
            let directory = second.node.open.directory
            let page = try machines.journal.page(
                from: second.size(),
                vaultAfter: directory.vaultPosition()
            )
            for batch in page.batches { try directory.vault.follow(batch.newStreams) }
            let receipt = try #require(try first.erase([2]))
            second.begin()
            try await eventually("the other one to follow") {
                try second.size() == first.size() && second.generation == 1
            }
            for number in 0..<3 { #expect(try second.mayUse(number) == (number != 2)) }
            #expect(try second.isErased(receipt.streams))
            try await machines.endAndAudit()
        }
    }

    // Killed in its first filling it keeps the names of all, and keys that open them.
    @Test func `names in its receipt a machine whose filling was ended, which leaves no rest`()
        async throws
    {
        try await withMachines { machines in
            let (first, _) = try await machines.begin(granting: 3)
            let (size, journal) = (try first.size(), machines.journal)
            try await eventually("all to be confirmed") {
                try journal.row().confirmedSize == size
            }
            try machines.makeRoom("c")
            let change = """
                UPDATE \(machines.schema.name).vault_item
                SET bytes = set_byte(bytes, 30, get_byte(bytes, 30) # 1)
                """
            try PostgresServers.sql(change)
            // It has read the keys, and some of the vault's items.
            #expect { _ = try machines.open("c") } throws: {
                ($0 as? LogStorageFault)?.code == .damaged
            }
            try PostgresServers.sql(change)
            #expect(try first.erase([1])?.machines == ["c"])
            // The control: once it follows nothing is left to be told.
            let third = try machines.open("c")
            third.begin()
            #expect(try first.erase([2])?.machines == [])
            #expect(third.generation == 2)
            await third.end()
            // As a machine leaves it that was killed.
            let rest = machines.path("c") + ".filling"
            try FileManager.default.createDirectory(
                atPath: rest,
                withIntermediateDirectories: true
            )
            _ = try machines.open("c")
            #expect(!FileManager.default.fileExists(atPath: rest))
        }
    }

    // The keys of before open what a slot, or a standby, keeps.
    @Test func `names in its receipt what keeps what was replaced`() async throws {
        try await withMachines { machines in
            let (first, _) = try await machines.begin(granting: 2)
            try PostgresServers.sql("SELECT pg_create_physical_replication_slot('left_here', true)")
            let receipt = try #require(try first.erase([1]))
            #expect(receipt.database.count == 1)
            #expect(receipt.database.first?.contains("left_here") == true)
            #expect(receipt.note.contains("\ndatabase \(receipt.database.first ?? "")\n"))
            // The control: without it nothing is named.
            try PostgresServers.sql("SELECT pg_drop_replication_slot('left_here')")
            let again = try #require(try first.erase([1]))
            #expect(again.database == [] && again.sequence == receipt.sequence)
        }
    }

    @Test func `finishes in the one directory that goes on what the cluster left half done`()
        async throws
    {
        try await withMachines { machines in
            let first = machines[0]
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            for number in 0..<3 { #expect(try first.grant(number).isAppended) }
            try PostgresServers.sql(
                "ALTER FUNCTION \(machines.schema.name).rotate RENAME TO gone"
            )
            #expect(throws: LogStorageFault.self) { try first.erase([1]) }
            await machines.end()
            _ = try machines.leave("b")
            let options = OpenLedger.Options(key: .file(machines.path("b") + "/key"))
            try OpenLedger(at: machines.path("b"), options: options).lend(warn: { _ in }) { open in
                #expect(open.directory.vault.generation == 1)
            }
            #expect(try machines.audit("b").faults.isEmpty)
        }
    }

    // The row's lock keeps the transaction from its end, and its leader hears nothing of it.
    @Test func `finds out what became of an erasure whose answer does not come`() async throws {
        try await withMachines { machines in
            await machines[0].end()
            let first = try machines.open("a", patience: 500)
            let second = machines[1]
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            second.begin()
            for number in 0..<3 { #expect(try first.grant(number).isAppended) }
            let holder = try PostgresConnection(PostgresServers.place(), within: 10)
            func hold(_ text: String) throws {
                _ = try holder.exchange([.init(.init("", text))], within: 60_000)
            }
            try hold("BEGIN")
            try hold("SELECT 1 FROM \(machines.schema.name).vault_keys FOR UPDATE")
            #expect(throws: LogStorageFault.self) { try first.erase([1]) }
            try hold("COMMIT")
            try await eventually("somebody to finish it") {
                try machines.note() == nil && first.generation == 1 && second.generation == 1
            }
            for machine in [first, second] {
                for number in 0..<3 { #expect(try machine.mayUse(number) == (number != 1)) }
            }
            try await machines.endAndAudit()
        }
    }
}

extension Machine {
    var generation: UInt64 { node.open.directory.vault.generation }

    func erase(_ numbers: [Int]) throws -> ErasureReceipt? {
        let outcome = try node.open.ledger.eraser.erase(
            numbers.map { try Self.customer($0) },
            Request(
                id: "erase \(numbers)",
                source: Source.support,
                environment: .production
            ),
            reading: StoredEvidenceNames()
        )
        guard case .erased(let receipt) = outcome else { return nil }
        return receipt
    }

    fileprivate func isErased(_ streams: [UInt64]) throws -> Bool {
        try streams.allSatisfy { try node.open.directory.vault.isErased($0) }
    }
}

extension Machines {
    /// The note of an erasure that the cluster holds.
    func note() throws -> [UInt8]? {
        let question = "SELECT bytes FROM \(schema.name).held WHERE kind = 'erasure'"
        let bytes = try PostgresServers.sql(question).first?.bytes(0)
        return bytes.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Ends all of them; what their directories hold is whole.
    func endAndAudit(_ names: [String] = ["a", "b"]) async throws {
        await end()
        for name in names { #expect(try audit(name).faults.isEmpty, "\(name)") }
    }
}
