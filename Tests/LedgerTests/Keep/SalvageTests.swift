import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations
import Salvage
import Stores
import Synchronization
import Testing

/// A ledger whose files are damaged comes back as far as they hold it (row 3.6, row Z5).
struct `A salvage` {
    static let masterKey = (0..<32).map { UInt8($0) }
    static let rules = SalvageRules.records

    /// A ledger of several bundles and a tail, closed.
    static func filled(_ body: (ScratchLedger) async throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "c", source: Source.catalog, environment: .production)
            )
            let lines = (0..<300).flatMap { Sample.ownedPurchase("u\($0)", "app_store/\($0)") }
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            _ = try scratch.ledger.prover.checkpoint()
            try await body(scratch)
        }
    }

    static func rescue(
        _ path: String,
        into target: String
    ) throws -> SalvageReport {
        try LedgerSalvage(of: path, masterKey: masterKey, rules: rules).rescue(into: target)
    }

    /// Lends a rescued ledger, open for reading.
    private static func reading<Result>(
        _ path: String,
        _ body: (Ledger) throws -> Result
    ) throws -> Result {
        let clock = TestClock(Instant(milliseconds: 0))
        let ledger = try Ledger.open(
            at: path,
            options: ScratchLedger.options(clock, isReadOnly: true)
        )
        defer { try? ledger.close() }
        return try body(ledger)
    }

    /// What a state made from a prefix warns of.
    private static func warnings(_ ledger: Ledger, known size: UInt64) throws -> [String] {
        let question = CustomerQuestion(
            customer: "u1",
            environment: .production,
            point: BitemporalPoint(at: Sample.day(3), knownAt: .sequence(size))
        )
        return try ledger.questions.show(question).state.warnings.map(\.code.rawValue)
    }

    /// Changes the log's data file.
    static func damage(_ path: String, _ body: (inout Data) throws -> Void) throws {
        let file = URL(filePath: path + "/log/data.mdb")
        var data = try Data(contentsOf: file)
        try body(&data)
        try data.write(to: file)
    }

    /// Fills every copy of a record with zeros.
    static func erase(_ record: [UInt8], in data: inout Data) {
        while let place = data.range(of: Data(record)) {
            data.replaceSubrange(place, with: Data(count: record.count))
        }
    }

    // The negative control: nothing is lost where nothing is damaged
    @Test func `of a sound ledger gives the same ledger`() async throws {
        try await Self.filled { scratch in
            let (size, root) = try (
                scratch.ledger.questions.size(), scratch.ledger.auditor.audit().rootHash
            )
            try scratch.close()
            let target = scratch.path + "-rescued"
            let report = try Self.rescue(scratch.path, into: target)
            #expect(report.isWhole)
            #expect(report.records == size)
            #expect(report.confirmed == size)
            try Self.reading(target) { ledger in
                let audit = try ledger.auditor.audit()
                #expect(audit.isOK, "\(audit.faults)")
                #expect(audit.rootHash == root)
                #expect(audit.checkpoints == 1)
            }
        }
    }

    @Test func `leaves a gap for a record of a bundle that is lost, and keeps the tree`()
        async throws
    {
        try await Self.filled { scratch in
            let (size, root) = try (
                scratch.ledger.questions.size(), scratch.ledger.auditor.audit().rootHash
            )
            let record = try scratch.record(at: 300)
            try scratch.close()
            try Self.damage(scratch.path) { Self.erase(record, in: &$0) }
            let target = scratch.path + "-rescued"
            let report = try Self.rescue(scratch.path, into: target)
            #expect(report.gaps.map(\.sequences) == [300..<301])
            #expect(report.gaps.map(\.cause) == [.zeroed])
            #expect(report.isProven)
            #expect(report.confirmed == size - 1)
            try Self.reading(target) { ledger in
                let audit = try ledger.auditor.audit()
                #expect(audit.faults.map(\.sequence) == [300])
                #expect(audit.faults.map(\.kind) == [.record])
                #expect(audit.rootHash == root)
                #expect(try ledger.auditor.status().lost == 1)
                // A prefix that ends before the gap misses nothing.
                #expect(try Self.warnings(ledger, known: 301).contains("events_lost"))
                #expect(try !Self.warnings(ledger, known: 300).contains("events_lost"))
                #expect(try ledger.questions.event(at: 300) == nil)
                var sequences: [UInt64] = []
                try ledger.questions.events(EventFilter(sequences: 298..<303)) { sequence, _ in
                    sequences.append(sequence)
                    return true
                }
                #expect(sequences == [298, 299, 301, 302])
                // An export goes over it, and says so to whoever checks it; so does a prefix that ends with it.
                let plan = try ledger.exporter.exportPlan(
                    of: 298..<303,
                    redaction: .none,
                    formats: [.ndjson]
                )
                let export = try ledger.exporter.export(plan, reading: StoredEvidenceNames())
                let check = try ExportCheckAnswer(ExportInMemory(export), key: nil)
                #expect(check.faults.map(\.sequence) == [300])
                #expect(check.faults.map(\.kind) == [.record])
                // A mirror finds each record at its place, and what stands for the lost one at its.
                let served = try #require(
                    try ledger.prover.publishedRecords(TileCoordinate(level: 0, index: 1))
                )
                var (place, count) = (0, 0)
                while place + 1 < served.count {
                    place += 2 + Int(served[place]) << 8 + Int(served[place + 1])
                    count += 1
                }
                #expect(count == TileCoordinate.fullWidth && place == served.count)
                // Read anew, it answers as it does, with the loss.
                for known in [300, 301, size] {
                    let replay = try ledger.auditor.replay(knownAt: .sequence(known))
                    let answers = try replay.answers(at: Sample.day(3), environment: .production)
                    #expect(answers.customers > 0)
                    #expect(answers.differences == [], "known at \(known)")
                }
                // Law 2 holds over the gap: what was known is found by a binary search.
                let last = try #require(try ledger.questions.lastRecordedAt())
                #expect(try ledger.questions.prefix(knownAt: .instant(last)) == size)
            }
        }
    }

    /// A ledger that was rescued without the event 300, a backup of it and an archive.
    private static func kept(
        _ body: (_ rescued: String, _ backup: String, _ archive: String) throws -> Void
    ) async throws {
        try await filled { scratch in
            let record = try scratch.record(at: 300)
            try scratch.close()
            try damage(scratch.path) { erase(record, in: &$0) }
            let target = scratch.path + "-rescued"
            _ = try rescue(scratch.path, into: target)
            let (backup, archive) = (target + "-backup", target + "-archive")
            do {
                let open = try OpenLedger(at: target, options: ScratchLedger.options(TestClock()))
                defer { Forking.lock.withLock { _ in try? open.close() } }
                _ = try LedgerBackup(of: open, into: backup).write(vault: masterKey) {
                    Issue.record("\($0)")
                }
                _ = try open.ledger.archiver.archive(
                    to: ArchiveDirectory(at: archive, forWriting: true),
                    manifest: LedgerDirectory.manifestBytes(at: target)
                )
            }
            try body(target, backup, archive)
        }
    }

    // What is restored of a ledger that lacks something lacks it too, and says so.
    @Test func `is told by what is restored from a backup or an archive of the new ledger`()
        async throws
    {
        try await Self.kept { rescued, backup, archive in
            let loss = try #require(try LedgerDirectory.knownLoss(at: rescued))
            for source in [backup, archive] {
                for (cut, isLost) in [(ArchiveRestore.Cut.everything, true), (.size(300), false)] {
                    let new = source + "-\(isLost)"
                    let restore = try LedgerRestore(
                        from: source,
                        vault: backup + "/vault",
                        cut: cut
                    )
                    _ = try restore.write(into: new, masterKey: Self.masterKey)
                    #expect(try LedgerDirectory.knownLoss(at: new) == (isLost ? loss : nil))
                    try Self.reading(new) { ledger in
                        let warnings = try Self.warnings(ledger, known: isLost ? 301 : 300)
                        #expect(warnings.contains("events_lost") == isLost)
                    }
                }
            }
        }
    }

    @Test func `makes an archive say so that was begun before, and unreadable is a fault of it`()
        async throws
    {
        try await Self.kept { rescued, _, archive in
            let file = archive + "/loss.json"
            func archiveAnew() throws -> [String] {
                try Self.reading(rescued) { ledger in
                    let store = try ArchiveDirectory(at: archive, forWriting: true)
                    _ = try ledger.archiver.archive(
                        to: store,
                        manifest: LedgerDirectory.manifestBytes(at: rescued)
                    )
                    return try ledger.archiver.audit(store).findings.map(\.detail)
                }
            }
            let said = try String(contentsOfFile: file, encoding: .utf8)
            try FileManager.default.removeItem(atPath: file)
            #expect(try archiveAnew() == [])
            #expect(try String(contentsOfFile: file, encoding: .utf8) == said)
            try Data("{}".utf8).write(to: URL(filePath: file))
            let fault = #expect(throws: ArchiveFault.self) { try archiveAnew() }
            #expect(fault?.code == .damaged)
            let store = try ArchiveDirectory(at: archive, forWriting: false)
            let audit = try Self.reading(rescued) { try $0.archiver.audit(store) }
            #expect(audit.findings.map(\.detail) == ["its loss.json is not one"])
        }
    }

    // A record rewritten with a checksum that fits
    @Test func `names a record that is another than the tree says`() async throws {
        try await Self.filled { scratch in
            let record = try scratch.record(at: 100)
            try scratch.close()
            var forged = record
            forged[24] ^= 1
            let crc = CRC32C.checksum(forged.span.extracting(0..<forged.count - 4))
            for byte in 0..<4 {
                forged[forged.count - 4 + byte] = UInt8(truncatingIfNeeded: crc >> (8 * byte))
            }
            try Self.damage(scratch.path) { data in
                while let place = data.range(of: Data(record)) {
                    data.replaceSubrange(place, with: forged)
                }
            }
            let report = try Self.rescue(scratch.path, into: scratch.path + "-rescued")
            #expect(report.gaps.map(\.sequences) == [100..<101])
            #expect(report.gaps.map(\.cause) == [.altered])
        }
    }

    @Test func `finds everything without meta pages`() async throws {
        try await Self.filled { scratch in
            let size = try scratch.ledger.questions.size()
            try scratch.close()
            try Self.damage(scratch.path) { $0.replaceSubrange(0..<8192, with: Data(count: 8192)) }
            let report = try Self.rescue(scratch.path, into: scratch.path + "-rescued")
            #expect(report.isWhole)
            #expect(report.records == size)
        }
    }

    @Test func `without the tail's hashes gives a ledger that can only be read`() async throws {
        try await Self.filled { scratch in
            let size = try scratch.ledger.questions.size()
            let record = try scratch.record(at: size - 2)
            try scratch.close()
            try Self.damage(scratch.path) { Self.erase(record, in: &$0) }
            let target = scratch.path + "-rescued"
            let report = try Self.rescue(scratch.path, into: target)
            #expect(report.lost == 1)
            #expect(!report.isProven)
            let fault = #expect(throws: LedgerOpenFault.self) {
                _ = try OpenLedgerDirectory(
                    at: target,
                    masterKey: Self.masterKey,
                    forWriting: true,
                    clock: { 0 },
                    randomness: .system
                )
            }
            #expect(fault?.code == .treeLost)
            try Self.reading(target) { ledger in
                let kinds = try ledger.auditor.audit().faults.map(\.kind)
                #expect(kinds.contains(.tree))
            }
        }
    }

    @Test func `fills its gaps from another copy`() async throws {
        try await Self.filled { scratch in
            let record = try scratch.record(at: 300)
            try scratch.close()
            let copy = scratch.path + "-copy"
            try FileManager.default.copyItem(atPath: scratch.path, toPath: copy)
            try Self.damage(scratch.path) { Self.erase(record, in: &$0) }
            let report = try LedgerSalvage(
                of: scratch.path,
                masterKey: Self.masterKey,
                rules: Self.rules,
                supplies: [LedgerCopy(at: copy)]
            ).plan()
            #expect(report.isWhole)
            #expect(report.refilled == 1)
        }
    }

    // It would be copied into itself, and that copy, too.
    @Test func `refuses a directory within the damaged ledger's, by whatever path`() async throws {
        try await Self.filled { scratch in
            try scratch.close()
            let link = scratch.path + "-link"
            try FileManager.default.createSymbolicLink(
                atPath: link,
                withDestinationPath: scratch.path + "/views"
            )
            for place in [scratch.path + "/new", scratch.path + "/a/b", link + "/new"] {
                let fault = #expect(throws: LedgerOpenFault.self) {
                    _ = try Self.rescue(scratch.path, into: place)
                }
                #expect(fault?.code == .cannotCreate)
                #expect(!FileManager.default.fileExists(atPath: place))
            }
            // The control
            #expect(try Self.rescue(scratch.path, into: scratch.path + "-rescued").isWhole)
        }
    }

    @Test func `refuses a directory that holds something, and another key`() async throws {
        try await Self.filled { scratch in
            try scratch.close()
            let same = #expect(throws: LedgerOpenFault.self) {
                _ = try Self.rescue(scratch.path, into: scratch.path)
            }
            #expect(same?.code == .notEmpty)
            let other = #expect(throws: LedgerOpenFault.self) {
                _ = try LedgerSalvage(
                    of: scratch.path,
                    masterKey: Array(repeating: 1, count: 32),
                    rules: Self.rules
                )
            }
            #expect(other?.code == .wrongKey)
        }
    }
}
