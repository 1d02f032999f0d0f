import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDB
import LedgerAPI
import LedgerOperations
import Salvage
import Synchronization
import Testing

@testable import LMDBStorage

/// Wherever a writer is stopped between the log's commit and the removal, nothing is lost, and nothing
/// is given twice (E3).
struct `A ledger whose writer was stopped with new streams on their way` {
    /// The files of a ledger as one of the moments left them.
    struct Moment: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var log, data, journal: Int

        /// What stands when: 0 before, 1 after the log's commit, 2 after the vault took over, 3 after
        /// the removal.
        static let all = [
            Moment(testDescription: "after the log's commit", log: 1, data: 0, journal: 0),
            Moment(testDescription: "after the vault's commit", log: 1, data: 2, journal: 0),
            Moment(testDescription: "after the journal's sync", log: 1, data: 2, journal: 2),
            Moment(testDescription: "after the removal", log: 3, data: 2, journal: 2),
        ]
        /// The log forgets what the vault does not have: what must never come.
        static let early = Moment(testDescription: "too early", log: 3, data: 0, journal: 0)
    }

    private static let customers = 20

    /// Lends the ledger's directory as it stood at a moment, with nobody there.
    static func with(
        _ moment: Moment,
        _ body: (_ path: String, TestClock) throws -> Void
    ) async throws {
        try await ScratchLedger.with { scratch in
            try record(0..<5, in: scratch)
            let vault = scratch.directory.vault
            try vault.drawIn()
            func copy(_ number: Int) throws {
                let path = scratch.path + "-\(number)"
                try FileManager.default.copyItem(atPath: scratch.path, toPath: path)
            }
            try copy(0)
            try vault.writer.withLock { _ in
                try record(5..<customers, in: scratch)
                _ = try scratch.ledger.prover.checkpoint()
                try copy(1)
            }
            try vault.drawIn()
            try copy(2)
            try copy(3)
            try scratch.close()
            let path = scratch.path + "-0"
            for (file, number) in [
                ("log/data.mdb", moment.log), ("vault/data.mdb", moment.data),
                ("vault/journal", moment.journal),
            ] where number > 0 {
                try FileManager.default.removeItem(atPath: path + "/" + file)
                try FileManager.default.copyItem(
                    atPath: scratch.path + "-\(number)/" + file,
                    toPath: path + "/" + file
                )
            }
            try body(path, scratch.clock)
        }
    }

    private static func record(_ customers: Range<Int>, in scratch: ScratchLedger) throws {
        for number in customers {
            let lines = Sample.ownedPurchase("u\(number)", "app_store/\(number)")
            for receipt in try scratch.ledger.appender.record(Sample.submissions(lines)) {
                guard case .appended = receipt else { throw LogStorageFault(.unreadable, "no") }
            }
        }
    }

    private static func name(_ number: Int) -> StreamName {
        StreamName(
            environment: StoreEnvironment.production.rawValue,
            subject: "customer/u\(number)"
        )
    }

    /// What is found of everybody, and what an audit says.
    private static func look(
        _ path: String,
        _ clock: TestClock,
        isReadOnly: Bool
    ) throws -> (found: Int, faults: [String]) {
        let open = try OpenLedger(
            at: path,
            options: ScratchLedger.options(clock, isReadOnly: isReadOnly)
        )
        defer { try? open.close() }
        let (vault, questions) = (open.directory.vault, open.ledger.questions)
        let found = try (0..<customers).count { number in
            guard let stream = try vault.stream(of: name(number)) else { return false }
            #expect(try vault.name(of: stream) == name(number))
            let purchase = PurchaseName(store: Source.appStore, originalID: "\(number)")
            return try vault.keys(of: stream) != nil
                && questions.isKnown(purchase, environment: .production)
        }
        return (found, try open.ledger.auditor.audit().faults.map(\.detail))
    }

    @Test(arguments: Moment.all)
    func `reads and writes on`(moment: Moment) async throws {
        try await Self.with(moment) { path, clock in
            let data = URL(filePath: path + "/log/data.mdb")
            let before = try Data(contentsOf: data)
            let read = try Self.look(path, clock, isReadOnly: true)
            #expect(read.found == Self.customers && read.faults.isEmpty, "\(read)")
            #expect(try Data(contentsOf: data) == before, "only reading")
            for _ in 0..<2 {
                let written = try Self.look(path, clock, isReadOnly: false)
                #expect(written.found == Self.customers && written.faults.isEmpty, "\(written)")
            }
            let open = try OpenLedger(at: path, options: ScratchLedger.options(clock))
            defer { try? open.close() }
            #expect(try open.directory.log.newStreams(from: 0).isEmpty)
            let vault = open.directory.vault
            let known = try (0..<Self.customers).compactMap { try vault.stream(of: Self.name($0)) }
            #expect(known.count == Self.customers)
            let new = try vault.reserveStream(of: Self.name(99))
            let counter = StreamNumber.counter(of: new)
            #expect(known.allSatisfy { StreamNumber.counter(of: $0) < counter })
        }
    }

    // The control.
    @Test func `has lost keys where the log forgot them first`() async throws {
        try await Self.with(.early) { path, clock in
            // It may already be met where a name is looked up.
            let read = try? Self.look(path, clock, isReadOnly: true)
            #expect(read.map { $0.found < Self.customers || !$0.faults.isEmpty } ?? true)
        }
    }

    /// Fills the entries in a file with zeros, those in freed pages too.
    private static func clearEntries(in file: String) throws {
        var bytes = [UInt8](try Data(contentsOf: URL(filePath: file)))
        var places: [Range<Int>] = []
        VaultJournalReader.read(bytes.span) { offset, part in
            guard case .item(let item) = part else { return }
            places.append(Int(offset)..<Int(offset) + item.bytes.count)
        }
        for place in places {
            bytes.replaceSubrange(place, with: [UInt8](repeating: 0, count: place.count))
        }
        try Data(bytes).write(to: URL(filePath: file))
    }

    // Raw pages of the log have what the vault does not; in the control nobody has it.
    @Test(arguments: Moment.all + [.early])
    func `is rescued with every key`(moment: Moment) async throws {
        try await Self.with(moment) { path, clock in
            let target = path + "-rescued"
            let isLost = moment.testDescription == Moment.early.testDescription
            if isLost { try Self.clearEntries(in: path + "/log/data.mdb") }
            let report = try `A salvage`.rescue(path, into: target)
            #expect((report.vault.lostCount > 0) == isLost, "\(report.vault)")
            guard !isLost else { return }
            let read = try Self.look(target, clock, isReadOnly: true)
            #expect(read.found == Self.customers && read.faults.isEmpty, "\(read)")
        }
    }

    // Beside a writer that is gone nobody takes them over: an archive would hold records without keys.
    @Test func `is archived by no reader before the vault has the keys`() async throws {
        try await Self.with(Moment.all[0]) { (path: String, clock: TestClock) throws in
            func archive(isReadOnly: Bool) throws -> UInt64 {
                let open = try OpenLedger(
                    at: path,
                    options: ScratchLedger.options(clock, isReadOnly: isReadOnly)
                )
                defer { try? open.close() }
                if !isReadOnly { _ = try open.ledger.prover.checkpoint() }
                let store = try ArchiveDirectory(at: path + "-archive", forWriting: true)
                return try open.ledger.archiver.archive(
                    to: store,
                    manifest: LedgerDirectory.manifestBytes(at: path)
                ).archived
            }
            let fault = #expect(throws: LogStorageFault.self) { try archive(isReadOnly: true) }
            #expect(fault?.code == .busy)
            #expect(try archive(isReadOnly: false) > 0)
            #expect(try archive(isReadOnly: true) > 0)
        }
    }
}
