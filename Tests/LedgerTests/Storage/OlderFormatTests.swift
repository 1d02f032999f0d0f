import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDB
import LedgerAPI
import LedgerOperations
import Testing

@testable import LMDBStorage

/// A ledger that no new stream rode in the log of goes on as it is, until one does (E5).
struct `A ledger of format 1` {
    /// What a program of that format wrote: in the log no new streams, in `end` nothing but the end,
    /// in the vault no identifiers.
    private static let tables = [
        ("log", ["bundles", "tail", "companions", "shared", "tiles", "checkpoints", "end"]),
        ("vault", ["streams", "names"]),
    ]

    /// Lends a ledger as a program of format 1 closed it.
    private static func with(
        _ body: (_ path: String, TestClock) throws -> Void
    ) async throws {
        try await ScratchLedger.with { scratch in
            try record("ann", in: scratch.ledger)
            try scratch.close()
            for (folder, tables) in tables {
                try rewrite(tables, of: scratch.path + "/" + folder)
            }
            var manifest = try LedgerDirectory.manifest(at: scratch.path)
            #expect(manifest.format == 2)
            manifest.format = 1
            try LedgerDirectory.write(manifest, to: scratch.path)
            try body(scratch.path, scratch.clock)
        }
    }

    /// Makes the file of an environment anew with some of its tables: LMDB's wrapper takes none
    /// away.
    private static func rewrite(_ tables: [String], of folder: String) throws {
        let files = FileManager.default
        try files.moveItem(atPath: folder, toPath: folder + ".newer")
        try files.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        for name in try files.contentsOfDirectory(atPath: folder + ".newer")
        where !["data.mdb", "lock.mdb"].contains(name) {
            try files.moveItem(atPath: folder + ".newer/" + name, toPath: folder + "/" + name)
        }
        try copy(tables, from: folder + ".newer", to: folder)
        try files.removeItem(atPath: folder + ".newer")
    }

    private static func copy(_ tables: [String], from old: String, to new: String) throws {
        let source = try LMDB.Environment(path: old, options: .init(isReadOnly: true))
        defer { source.close() }
        let target = try LMDB.Environment(path: new, options: .init())
        defer { target.close() }
        for name in tables {
            guard let from = try source.table(name, create: false),
                let to = try target.table(name, create: true)
            else { continue }
            var entries: [(Key, [UInt8])] = []
            try source.read { transaction in
                try transaction.scan(from, from: nil) { key, value in
                    entries.append((Key(key), value.copy()))
                    return true
                }
            }
            // Whose log it is, and its last own time, are newer.
            if name == "end" { entries.removeAll { $0.0 != Key(0) } }
            try target.write { transaction in
                for (key, value) in entries { try transaction.put(to, key, value.span) }
            }
        }
    }

    private static func record(_ customer: String, in ledger: Ledger) throws {
        let lines = Sample.ownedPurchase(customer, "app_store/\(customer)")
        for receipt in try ledger.appender.record(Sample.submissions(lines)) {
            guard case .appended = receipt else { throw LogStorageFault(.unreadable, "no") }
        }
    }

    private static func open<Result>(
        _ path: String,
        _ clock: TestClock,
        isReadOnly: Bool = false,
        _ body: (OpenLedger) throws -> Result
    ) throws -> Result {
        let open = try OpenLedger(
            at: path,
            options: ScratchLedger.options(clock, isReadOnly: isReadOnly)
        )
        defer { try? open.close() }
        return try body(open)
    }

    /// Its format, and whether its log has the table.
    private static func state(_ path: String, _ log: LMDBLog) throws -> (format: Int, table: Bool) {
        let table = try log.withEnvironment {
            try $0.environment.table(LMDBLog.newStreamsName, create: false)
        }
        return (try LedgerDirectory.manifest(at: path).format, table != nil)
    }

    private static func isKnown(_ customer: String, in open: OpenLedger) throws -> Bool {
        let purchase = PurchaseName(store: Source.appStore, originalID: customer)
        return try open.ledger.questions.isKnown(purchase, environment: .production)
    }

    @Test func `is read, and nothing is written`() async throws {
        try await Self.with { path, clock in
            let before = try ["/log", "/vault", "/ledger.json"].map { part in
                try Self.bytes(path + part)
            }
            try Self.open(path, clock, isReadOnly: true) { (open: OpenLedger) throws in
                #expect(try Self.isKnown("ann", in: open))
                #expect(try !Self.isKnown("bob", in: open))
                #expect(try open.ledger.auditor.audit().isOK)
                #expect(try Self.state(path, open.directory.log) == (1, false))
            }
            for (part, bytes) in zip(["/log", "/vault", "/ledger.json"], before) {
                #expect(try Self.bytes(path + part) == bytes, "\(part)")
            }
        }
    }

    private static func bytes(_ path: String) throws -> [Data] {
        guard path.hasSuffix(".json") else {
            // LMDB's own list of readers is no part of a ledger.
            return try files(below: path).filter { !$0.path.hasSuffix("lock.mdb") }.map(\.bytes)
        }
        return [try Data(contentsOf: URL(filePath: path))]
    }

    @Test func `stays one while no stream is new`() async throws {
        try await Self.with { path, clock in
            try Self.open(path, clock) { (open: OpenLedger) throws in
                let lines = [
                    Sample.line(
                        "g1",
                        "grant.given",
                        "customer/ann",
                        data: #"{"grantId":"g","tier":"pro"}"#
                    )
                ]
                let receipts = try open.ledger.appender.record(Sample.submissions(lines))
                #expect(receipts.count == 1)
                #expect(try Self.state(path, open.directory.log) == (1, false))
            }
            #expect(try LedgerDirectory.manifest(at: path).format == 1)
        }
    }

    @Test func `becomes format 2 with the first new stream, for its owner alone`() async throws {
        try await Self.with { path, clock in
            try Self.open(path, clock) { (open: OpenLedger) throws in
                try Self.record("bob", in: open.ledger)
                #expect(try Self.state(path, open.directory.log) == (2, true))
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: path + "/log")
            #expect((attributes[.posixPermissions] as? Int) == 0o700)
            for isReadOnly in [true, false] {
                try Self.open(path, clock, isReadOnly: isReadOnly) { (open: OpenLedger) throws in
                    #expect(try Self.isKnown("ann", in: open) && Self.isKnown("bob", in: open))
                    #expect(try open.ledger.auditor.audit().isOK)
                }
            }
        }
    }

    // Stopped between the two: it says the format, and has no table yet.
    @Test func `that said its format and was stopped goes on`() async throws {
        try await Self.with { path, clock in
            try LedgerDirectory.upgrade(at: path)
            for isReadOnly in [true, false] {
                try Self.open(path, clock, isReadOnly: isReadOnly) { (open: OpenLedger) throws in
                    #expect(try Self.isKnown("ann", in: open))
                    #expect(try Self.state(path, open.directory.log) == (2, false))
                }
            }
            try Self.open(path, clock) { (open: OpenLedger) throws in
                try Self.record("bob", in: open.ledger)
                #expect(try Self.state(path, open.directory.log) == (2, true))
            }
        }
    }

    // An older program must not go on without what it does not know.
    @Test func `says its format before the log holds a new stream`() async throws {
        try await Self.with { path, clock in
            try Self.open(path, clock) { (open: OpenLedger) throws in
                let (log, vault) = (open.directory.log, open.directory.vault)
                // Where the manifest cannot be written nothing is committed.
                let manifest = path + "/ledger.json"
                try FileManager.default.moveItem(atPath: manifest, toPath: manifest + ".away")
                _ = try vault.reserveStream(of: StreamName(environment: 0, subject: "customer/x"))
                #expect(throws: (any Error).self) { try vault.commit(upTo: .max, with: log) }
                try FileManager.default.moveItem(atPath: manifest + ".away", toPath: manifest)
                #expect(try Self.state(path, log) == (1, false))
                try vault.commit(upTo: .max, with: log)
                #expect(try Self.state(path, log) == (2, true))
            }
        }
    }
}
