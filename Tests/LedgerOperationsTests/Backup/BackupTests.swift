import DurableFiles
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import Glibc
import LMDBStorage
import LedgerAPI
import LedgerOperations
import Stores
import Testing

struct `A backup` {
    private static func backUp(
        _ ledger: FileLedger,
        of path: String? = nil,
        _ place: String,
        log: Bool = true,
        vault: Bool = true
    ) throws -> LedgerBackup.Outcome {
        try Signing.openCheckpointed(warn: { _ in }) { writing in
            var options = FileLedger.options
            options.isReadOnly = !writing
            return try OpenLedger(at: path ?? ledger.path, options: options)
        }
        .lending {
            try LedgerBackup(of: $0, into: place).write(
                log: log,
                vault: vault ? FileLedger.masterKey : nil,
                warn: { Issue.record("\($0)") }
            )
        }
    }

    private static func written(_ outcome: LedgerBackup.Outcome) throws -> BackupManifest {
        guard case .written(let manifest) = outcome else {
            Issue.record("the backup is damaged")
            throw CancellationError()
        }
        return manifest
    }

    /// A ledger of 21 events.
    private static func filled(
        _ body: (_ ledger: FileLedger, _ place: String) throws -> Void
    ) throws {
        try FileLedger.with { ledger throws in
            _ = try ledger.importing((0..<20).map { FileLedger.grant("g\($0)", to: "u\($0)") })
            try body(ledger, ledger.folder + "/backup")
        }
    }

    @Test func `goes on where it was`() throws {
        try Self.filled { ledger, place in
            let first = try Self.written(Self.backUp(ledger, place))
            #expect(first.log?.events == 21 && first.log?.behind == 0)
            #expect(first.vault?.erased == 0)
            _ = try ledger.importing([FileLedger.grant("late")])
            #expect(try Self.written(Self.backUp(ledger, place)).log?.events == 22)
        }
    }

    @Test func `is of the log or of the vault alone`() throws {
        try Self.filled { ledger, place in
            let log = try Self.written(Self.backUp(ledger, place, vault: false))
            #expect(log.log != nil && log.vault == nil)
            #expect(!FileManager.default.fileExists(atPath: place + "/vault"))
            let vault = try Self.written(Self.backUp(ledger, place, log: false))
            #expect(vault.log == nil && vault.vault != nil)
        }
    }

    @Test func `that was stopped at its list goes on, and what is others' stays`() throws {
        try Self.filled { ledger, place in
            _ = try Self.backUp(ledger, place)
            try Data("{".utf8).write(to: URL(filePath: place + "/manifest.json.new"))
            try FileManager.default.removeItem(atPath: place + "/manifest.json")
            _ = try Self.backUp(ledger, place)
            #expect(try FileManager.default.contentsOfDirectory(atPath: place).count == 3)
            // The control
            try Data().write(to: URL(filePath: place + "/others"))
            let fault = #expect(throws: OperationFault.self) { try Self.backUp(ledger, place) }
            #expect(fault?.code == .notEmpty)
        }
    }

    // The same answers, byte for byte, and none of the old ledger's bytes changed
    @Test func `is restored beside, whole or up to an event`() throws {
        try Self.filled { ledger, place in
            _ = try Self.backUp(ledger, place)
            for (cut, size) in [(ArchiveRestore.Cut.everything, 21), (.size(9), 9)] {
                let new = ledger.folder + "/new-\(size)"
                let restore = try LedgerRestore(from: place, cut: cut)
                #expect(restore.plan.restored == UInt64(size))
                _ = try restore.write(into: new, masterKey: FileLedger.masterKey)
                #expect(try ledger.size(at: new) == UInt64(size))
                let events = try [ledger.path, new].map { path in
                    try ledger.open(at: path, isReadOnly: true) { open in
                        try (0..<UInt64(size)).map {
                            "\(String(describing: try open.questions.event(at: $0)))"
                        }
                    }
                }
                #expect(events[0] == events[1])
                #expect(try ledger.open(at: new) { try $0.auditor.audit().isOK })
                #expect(throws: (any Error).self) {
                    try restore.write(into: new, masterKey: FileLedger.masterKey)
                }
            }
        }
    }

    // A ledger that holds less than was signed signs nothing, unless under a new name
    @Test func `that is restored to less signs under a new name only`() throws {
        try Self.filled { ledger, place in
            _ = try Self.backUp(ledger, place)
            let restore = try LedgerRestore(from: place, cut: .size(9))
            let shorter = ledger.folder + "/shorter"
            _ = try restore.write(into: shorter, masterKey: FileLedger.masterKey)
            try ledger.open(at: shorter) { open in
                let fault = #expect(throws: LedgerFault.self) { try open.prover.checkpoint() }
                #expect(fault?.code == .shortened)
                var warnings: [String] = []
                try Signing.signIfAllowed(open) { warnings.append($0) }
                #expect(warnings.count == 1)
            }
            let again = ledger.folder + "/again"
            _ = try restore.write(
                into: again,
                masterKey: FileLedger.masterKey,
                as: Continuation(named: "ledger.example/again", opening: FileLedger.options)
            )
            try ledger.open(at: again) { open in
                let (size, note) = (try open.questions.size(), try open.prover.checkpoint())
                #expect(size == 10 && note.contains("ledger.example/again"))
            }
            // Nor beside a server, for an export; the one under a new name is the control.
            func planned(_ place: String) throws -> ExportPlan {
                try ledger.open(at: place, isReadOnly: true) {
                    try $0.exporter.exportPlan(of: 0..<2, redaction: .all, formats: [.ndjson])
                }
            }
            let fault = #expect(throws: LedgerFault.self) { try planned(shorter) }
            #expect(fault?.code == .shortened)
            #expect(try planned(again).checkpoint.contains("ledger.example/again"))
        }
    }

    // It stands before its first event does, which may be refused, or whose writer stopped.
    @Test func `that goes on under a new name says where it came from before anything else`()
        throws
    {
        try Self.filled { ledger, place in
            _ = try Self.backUp(ledger, place)
            let new = ledger.folder + "/new"
            var behind = FileLedger.options
            behind.clock = { Instant(milliseconds: 0) }
            let restore = try LedgerRestore(from: place, cut: .size(9))
            let fault = #expect(throws: OperationFault.self) {
                try restore.write(
                    into: new,
                    masterKey: FileLedger.masterKey,
                    as: Continuation(named: "ledger.example/again", opening: behind)
                )
            }
            #expect(fault?.message.contains("the new ledger stands") == true)
            #expect(try ledger.size(at: new) == 9)
            _ = try ledger.importing([FileLedger.grant("late")], into: new)
            try ledger.open(at: new) { open in
                let size = try open.questions.size()
                let first = try #require(try open.questions.event(at: 9)).event.data[.detail]
                guard case .text(let words)? = first else {
                    Issue.record("\(String(describing: first))")
                    return
                }
                // Once, however often it is opened.
                #expect(size == 11 && words.contains(", checkpoint 21 "))
            }
        }
    }

    /// When the last backup of a ledger was made, as its figures have it.
    private static func lastBackup(of ledger: FileLedger) throws -> Instant? {
        try ledger.openWithFiles {
            LedgerFigures(of: $0, at: ledger.path, archive: nil).lastBackup
        }
    }

    // One that fails every night is none.
    @Test func `is made once it is whole, and an erasure finds it before`() throws {
        try Self.filled { ledger, place in
            // A folder stands where the vault's copy is written.
            let journal = place + "/vault/journal.new/x"
            try FileManager.default.createDirectory(
                atPath: journal,
                withIntermediateDirectories: true
            )
            #expect(throws: (any Error).self) { try Self.backUp(ledger, place) }
            #expect(try BackupList.read(ledgerPath: ledger.path).own.map(\.path) == [place])
            #expect(try Self.lastBackup(of: ledger) == nil)
            try FileManager.default.removeItem(atPath: place + "/vault/journal.new")
            _ = try Self.backUp(ledger, place)
            let made = try #require(try Self.lastBackup(of: ledger))
            try FileManager.default.createDirectory(
                atPath: journal,
                withIntermediateDirectories: true
            )
            #expect(throws: (any Error).self) { try Self.backUp(ledger, place) }
            #expect(try Self.lastBackup(of: ledger) == made)
        }
    }

    // Names and keys alone bring nothing back.
    @Test(arguments: [false, true]) func `of the vault alone is one beside an archive`(
        _ isArchived: Bool
    ) throws {
        try Self.filled { ledger, place in
            if isArchived {
                try ledger.open {
                    _ = try $0.prover.checkpoint()
                    _ = try $0.archiver.archive(
                        to: ArchiveDirectory(at: ledger.path + "/archive", forWriting: true),
                        manifest: LedgerDirectory.manifestBytes(at: ledger.path)
                    )
                }
            }
            _ = try Self.backUp(ledger, place, log: false)
            #expect((try Self.lastBackup(of: ledger) != nil) == isArchived)
            // An erasure reaches the keys wherever the log is.
            #expect(try BackupList.read(ledgerPath: ledger.path).own.first?.at.isEmpty == false)
            _ = try Self.backUp(ledger, place)
            _ = try ledger.importing([FileLedger.grant("late")])
            _ = try Self.backUp(ledger, place, log: false)
            // It is as old as what the copy of the log lacks.
            let late = try ledger.open(isReadOnly: true) { try $0.auditor.recordedAt(behind: 21) }
            #expect(try Self.lastBackup(of: ledger) == late && late != nil)
            _ = try Self.backUp(ledger, place, vault: false)
            #expect(try #require(try Self.lastBackup(of: ledger)) > #require(late))
        }
    }

    @Test func `is not written by two at once`() throws {
        try Self.filled { ledger, place in
            _ = try Self.backUp(ledger, place)
            let lock = try #require(try DurableFile.lock(place + "/vault/.lock"))
            let fault = #expect(throws: ArchiveFault.self) {
                try Self.backUp(ledger, place, log: false)
            }
            #expect(fault?.code == .locked)
            // The control
            close(lock)
            _ = try Self.written(Self.backUp(ledger, place, log: false))
        }
    }

    // Storage, "Proofs": two histories would be signed under one name
    @Test func `of one that signs no more says where it ends, and no copy of it signs`() throws {
        try Self.filled { ledger, place in
            _ = try Self.backUp(ledger, place)
            _ = try ledger.importing((0..<5).map { FileLedger.grant("late\($0)") })
            _ = try Self.backUp(ledger, place)
            let shorter = ledger.folder + "/shorter"
            _ = try LedgerRestore(from: place, cut: .size(23)).write(
                into: shorter,
                masterKey: FileLedger.masterKey
            )
            let second = ledger.folder + "/second"
            let fault = #expect(throws: LedgerFault.self) {
                try Self.backUp(ledger, of: shorter, second)
            }
            #expect(fault?.code == .shortened)
            // What is signed was copied all the same, and the vault.
            #expect(FileManager.default.fileExists(atPath: second + "/manifest.json"))
            let restore = try LedgerRestore(from: second, cut: .everything)
            #expect(restore.plan.archived == 21 && restore.plan.restored == 21)
            #expect(restore.plan.published?.contains("\n26\n") == true)
            let copy = ledger.folder + "/copy"
            _ = try restore.write(into: copy, masterKey: FileLedger.masterKey)
            let others = (0..<9).map { FileLedger.grant("other\($0)") }
            _ = try ledger.importing(others, into: copy)
            try ledger.open(at: copy) { open in
                let fault = #expect(throws: LedgerFault.self) { try open.prover.checkpoint() }
                #expect(fault?.code == .shortened)
            }
            // The control: without what the backup says of it, a second history is signed.
            try FileManager.default.removeItem(atPath: second + "/log/published")
            let unlocked = ledger.folder + "/unlocked"
            _ = try LedgerRestore(from: second, cut: .everything).write(
                into: unlocked,
                masterKey: FileLedger.masterKey
            )
            _ = try ledger.importing(others, into: unlocked)
            let note = try ledger.open(at: unlocked) { try $0.prover.checkpoint() }
            #expect(note.contains("\n30\n"))
        }
    }

    /// Erases somebody; the copies that hold them still, and those that were reached.
    private static func erase(
        _ customer: CustomerID,
        of path: String,
        _ ledger: FileLedger
    ) throws -> (missed: [String], reached: [String], exports: [String]) {
        try ledger.open(at: path) { open in
            let outcome = try open.eraser.erase(
                [customer],
                Request(
                    id: "gone-" + customer.text,
                    source: Source.ledger,
                    environment: .production
                ),
                reading: StoredEvidenceNames()
            )
            guard case .erased(let receipt) = outcome else {
                Issue.record("\(outcome)")
                throw CancellationError()
            }
            let backups = receipt.backups
            return (backups.missed.map(\.path), backups.reached, receipt.exports)
        }
    }

    // Z6: whoever is erased from a restored ledger is in the copies of the one before, which may go on too
    @Test func `is named by erasures of what was restored from it, and not touched`() throws {
        try Self.filled { ledger, place in
            let exported = #"{"path":"/exports/all"}"#
            try LedgerDirectory.noteExports([exported], at: ledger.path)
            _ = try Self.backUp(ledger, place)
            // A path may say whose export it is.
            let listed = try Data(contentsOf: URL(filePath: place + "/vault/copies"))
            #expect(listed.count > 50 && listed.firstRange(of: Data("/exports".utf8)) == nil)
            let new = ledger.folder + "/new"
            _ = try LedgerRestore(from: place, cut: .everything).write(
                into: new,
                masterKey: FileLedger.masterKey
            )
            let keys = URL(filePath: place + "/vault/epoch-keys")
            let before = try Data(contentsOf: keys)
            let copies = try Self.erase("u3", of: new, ledger)
            #expect(copies.missed == [place] && copies.reached.isEmpty)
            #expect(copies.exports == ["/exports/all"])
            #expect(try Data(contentsOf: keys) == before)
            // The control: its own ledger reaches it.
            #expect(try Self.erase("u3", of: ledger.path, ledger).reached == [place])
            #expect(try Data(contentsOf: keys) != before)
            // A backup that the new one makes is its own.
            let own = ledger.folder + "/own"
            _ = try Self.backUp(ledger, of: new, own)
            let later = try Self.erase("u4", of: new, ledger)
            #expect(later.missed == [place] && later.reached == [own])
            // Nor does a new master key of the one take the other's backup from it.
            let kept = try Data(contentsOf: keys)
            let missed = try LedgerDirectory.rotateMasterKey(
                at: new,
                from: FileLedger.masterKey,
                to: [UInt8](repeating: 9, count: 32),
                randomness: .system
            )
            #expect(try missed == [place] && Data(contentsOf: keys) == kept)
        }
    }

    // What cannot be read holds up no restore
    @Test func `that lost its list of copies is restored, and says so`() throws {
        try Self.filled { ledger, place in
            _ = try Self.backUp(ledger, place)
            try Data("{".utf8).write(to: URL(filePath: place + "/vault/copies"))
            let new = ledger.folder + "/new"
            _ = try LedgerRestore(from: place, cut: .everything).write(
                into: new,
                masterKey: FileLedger.masterKey
            )
            let copies = try Self.erase("u3", of: new, ledger)
            #expect(Set(copies.missed) == [place, "backups.json"])
            #expect(copies.exports == ["exports.ndjson"])
        }
    }

    @Test func `is not where there is none, or without the vault`() throws {
        try Self.filled { ledger, place in
            _ = try Self.backUp(ledger, place, vault: false)
            for (source, code) in [
                (ledger.folder, OperationFault.Code.noSource), (place, .noVault),
            ] {
                let fault = #expect(throws: OperationFault.self) {
                    try LedgerRestore(from: source, cut: .everything)
                }
                #expect(fault?.code == code)
            }
        }
    }
}

extension OpenLedger {
    /// Lends it and closes it.
    fileprivate func lending<Result>(_ body: (OpenLedger) throws -> Result) throws -> Result {
        defer { try? close() }
        return try body(self)
    }
}
