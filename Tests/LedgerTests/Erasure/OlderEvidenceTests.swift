import Encodings
import Entitlements
import EventLog
import Foundation
import LMDB
import LMDBStorage
import LedgerAPI
import Salvage
import Stores
import Testing

@testable import EntitlementLedger

/// What older programs sealed for its events alone is deleted by the erasure of anybody whom it names
/// (Storage, "Evidence"; Z6).
struct `Evidence of an older program` {
    private static let request = Request(
        id: "erase",
        source: Source.support,
        environment: .production
    )
    /// Noted messages; the first two name ann.
    private static let bodies = ["ann", "ann", "bob"].enumerated().map { number, customer in
        """
        {"event":{"id":"old-\(number)","type":"\(number == 1 ? "TEST" : "INVOICE_ISSUANCE")",\
        "event_timestamp_ms":1767225660000,"store":"STRIPE","original_transaction_id":"o-\(number)",\
        "app_user_id":"\(customer)","subscriber_attributes":{"$email":{"value":"\(customer)@x.org"}}}}
        """
    }

    /// Records the messages as an older program did: under the keys of their events' streams.
    private static func record(_ scratch: ScratchLedger) throws {
        let vault = scratch.directory.vault
        for body in bodies {
            let submission = try RevenueCatBody.submission(of: Array(body.utf8))
            let resolver = StreamResolver(vault)
            var sealer = EventSealer(resolver: resolver, randomness: .system)
            let event = submission.events[0]
            let numbered = try resolver.numbered(event)
            let stream = numbered.stream
            var randomness = RandomSource.system
            let bytes = try SealedEvidence.seal(
                Array(body.utf8),
                encoding: .plain,
                cover: .events,
                streams: [(stream, #require(try vault.keys(of: stream)))],
                nonce: SealingNonce(using: &randomness)
            )
            let attached = EventSealer.Attached(
                kind: .evidence,
                digest: TreeHash.attached(bytes.span)
            )
            let record = try #require(try sealer.seal(numbered, attached: attached))
            _ = try scratch.ledger.appender.writer.append([
                SealedSubmission(records: [record], attached: bytes)
            ])
        }
        // What this program writes behind it names its people itself.
        let newer = bodies[0].replacingOccurrences(of: "old-0", with: "new-0")
        _ = try scratch.ledger.appender.record(RevenueCatBody.submission(of: Array(newer.utf8)))
    }

    /// The sealed bytes of what names ann.
    private static func sealed(_ scratch: ScratchLedger) throws -> [Data] {
        try [0, 1].map { sequence in
            Data(try #require(try scratch.directory.log.attached(at: sequence)).suffix(100))
        }
    }

    private static func findings(_ sealed: [Data], _ folder: String) throws -> [String] {
        try files(below: folder).filter { file in
            sealed.contains { file.bytes.range(of: $0) != nil }
        }.map(\.path)
    }

    @discardableResult
    private static func erase(_ scratch: ScratchLedger) throws -> ErasureReceipt {
        let outcome = try scratch.ledger.eraser.erase(
            ["ann"],
            request,
            reading: StoredEvidenceNames()
        )
        guard case .erased(let receipt) = outcome else { throw NotErased() }
        return receipt
    }

    private struct NotErased: Error {}

    /// An archive beside the log, and one in a backup.
    private static func archive(_ scratch: ScratchLedger, _ backup: String) throws -> [String] {
        _ = try scratch.ledger.prover.checkpoint()
        let places = [scratch.path + "/archive", backup + "/log"]
        for place in places {
            let store = try ArchiveDirectory(at: place, forWriting: true)
            _ = try scratch.ledger.archiver.archive(
                to: store,
                manifest: LedgerDirectory.manifestBytes(at: scratch.path)
            )
        }
        try BackupList.note(
            BackupList.Entry(path: backup, at: scratch.clock.now.description),
            ledgerPath: scratch.path
        )
        return places
    }

    private static func expectErased(_ scratch: ScratchLedger) throws {
        #expect(try scratch.ledger.questions.evidence(of: 0) == nil)
        #expect(try scratch.ledger.questions.evidence(of: 1) == nil)
        #expect(
            try scratch.ledger.questions.evidence(of: 2) == Array(bodies[2].utf8),
            "another's stays"
        )
        #expect(try scratch.ledger.questions.evidence(of: 3) == nil)
        let audit = try scratch.ledger.auditor.audit()
        #expect(audit.faults.isEmpty)
        #expect(audit.erased == 2)
    }

    @Test func `goes from log, archive and backup, and its leaf stays`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.record(scratch)
            let folder = (scratch.path as NSString).deletingLastPathComponent
            let places = try Self.archive(scratch, folder + "/backup")
            let sealed = try Self.sealed(scratch)
            #expect(try Self.findings(sealed, folder).count >= 3, "the control: log and archives")
            let root = try scratch.ledger.prover.checkpoint()
            let receipt = try Self.erase(scratch)
            #expect(receipt.evidence == [0, 1])
            #expect(receipt.note.contains("\nevidence 1\n"))
            try Self.expectErased(scratch)
            #expect(try Self.findings(sealed, folder).isEmpty, "no page and no file holds it")
            for place in places {
                let store = try ArchiveDirectory(at: place, forWriting: false)
                #expect(try scratch.ledger.archiver.audit(store).findings.isEmpty)
            }
            try scratch.reopenWithoutViews()
            try Self.expectErased(scratch)
            #expect(try SignedNote.parse(root).text.contains("ledger.test/log"))
        }
    }

    @Test func `goes although the erasure was stopped before it had gone`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.record(scratch)
            let sealed = try Self.sealed(scratch)
            let list = URL(filePath: scratch.path + "/" + BackupList.fileName)
            try Data("no list".utf8).write(to: list)
            #expect(throws: (any Error).self) { try Self.erase(scratch) }
            try FileManager.default.removeItem(at: list)
            try scratch.reopen()
            try Self.expectErased(scratch)
            #expect(try Self.findings(sealed, scratch.path).isEmpty)
            #expect(try Self.erase(scratch).evidence == [0, 1], "the request again")
        }
    }

    // Whether such a record carries something nobody knows any more.
    @Test func `is not said to be gone where an archived record cannot be read`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.record(scratch)
            let folder = (scratch.path as NSString).deletingLastPathComponent
            let places = try Self.archive(scratch, folder + "/backup")
            let sealed = try Self.sealed(scratch)
            let bundle = try #require(
                try files(below: places[0]).first { $0.path.contains("/entries/") }
            )
            let place = URL(filePath: places[0] + "/" + bundle.path)
            var damaged = bundle.bytes
            damaged[2] ^= 0xFF
            try damaged.write(to: place)
            let fault = #expect(throws: ArchiveFault.self) { try Self.erase(scratch) }
            #expect(fault?.code == .damaged)
            // Whoever comes meanwhile has the keys destroyed, and what is still to go stays noted.
            let new = Sample.ownedPurchase("somebody-new", "app_store/77")
            _ = try scratch.ledger.appender.record(Sample.submissions(new))
            #expect(scratch.directory.vault.preparedErasure != nil)
            // Nor is anybody kept from writing to the ledger.
            try scratch.reopen()
            #expect(scratch.directory.vault.preparedErasure != nil)
            try bundle.bytes.write(to: place)
            #expect(try !Self.findings(sealed, folder).isEmpty, "the control")
            #expect(try Self.erase(scratch).evidence == [0, 1], "the request again")
            #expect(try Self.findings(sealed, folder).isEmpty)
        }
    }

    @Test func `is restored from no copy, however old`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.record(scratch)
            // A bundle that is full is archived once, and stays as it was then.
            let more = (0..<150).flatMap { Sample.ownedPurchase("u\($0)", "app_store/\($0)") }
            _ = try scratch.ledger.appender.record(Sample.submissions(more))
            let folder = (scratch.path as NSString).deletingLastPathComponent
            let places = try Self.archive(scratch, folder + "/backup")
            let old = folder + "/old"
            try FileManager.default.copyItem(atPath: places[0], toPath: old)
            let sealed = try Self.sealed(scratch)
            try Self.erase(scratch)
            // What came later joins what the erasure did not reach.
            let older = try ArchiveDirectory(at: old, forWriting: true)
            _ = try scratch.ledger.prover.checkpoint()
            let manifest = try LedgerDirectory.manifestBytes(at: scratch.path)
            _ = try scratch.ledger.archiver.archive(to: older, manifest: manifest)
            #expect(try Self.findings(sealed, old).count == 1, "the control")
            let reader = ArchiveReader(older)
            let restore = try ArchiveRestore(reader, key: scratch.ledger.prover.verifierKey)
            let log = MemoryLog()
            _ = try restore.run(restore.plan(.everything), into: log)
            for (sequence, bytes) in zip([UInt64(0), 1], sealed) {
                let attached = try #require(log.attached(at: sequence))
                #expect(Data(attached).range(of: bytes) == nil)
                #expect(ErasedEvidence.digest(attached.span) != nil)
            }
        }
    }

    // The checkpoint comes last: what a stopped writer leaves is gone on with later.
    @Test func `goes from an archive whose first writer was stopped`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.record(scratch)
            let folder = (scratch.path as NSString).deletingLastPathComponent
            for place in try Self.archive(scratch, folder + "/backup") {
                try FileManager.default.removeItem(atPath: place + "/" + ArchiveLayout.checkpoint)
            }
            let sealed = try Self.sealed(scratch)
            #expect(try Self.findings(sealed, folder).count >= 3, "the control: log and archives")
            try Self.erase(scratch)
            #expect(try Self.findings(sealed, folder).isEmpty)
        }
    }

    // Storage, "Evidence": what stands for a deleted one is damage where none was deleted
    @Test func `is missed in an archive that lacks it, and found in one that has it still`()
        async throws
    {
        try await ScratchLedger.with { scratch in
            try Self.record(scratch)
            let folder = (scratch.path as NSString).deletingLastPathComponent
            let place = try Self.archive(scratch, folder + "/backup")[0]
            let old = folder + "/old"
            try FileManager.default.copyItem(atPath: place, toPath: old)
            let store = try ArchiveDirectory(at: place, forWriting: true)
            #expect(try scratch.ledger.archiver.audit(store).findings.isEmpty, "the control")
            try ArchivedEvidence(store).erase([2])
            #expect(try scratch.ledger.archiver.audit(store).findings.map(\.sequence) == [2])
            try Self.erase(scratch)
            let older = try ArchiveDirectory(at: old, forWriting: false)
            #expect(try scratch.ledger.archiver.audit(older).findings.map(\.sequence) == [0, 1])
        }
    }

    // Where the log's own page is lost, what a salvage finds in a copy is the evidence itself.
    @Test func `is brought back by no salvage`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.record(scratch)
            _ = try scratch.ledger.prover.checkpoint()
            try scratch.close()
            let (copy, new) = (scratch.path + "-copy", scratch.path + "-new")
            try FileManager.default.copyItem(atPath: scratch.path, toPath: copy)
            try scratch.reopen()
            let sealed = try Self.sealed(scratch)
            try Self.erase(scratch)
            try scratch.close()
            let file = URL(filePath: scratch.path + "/log/data.mdb")
            var data = try Data(contentsOf: file)
            while let mark = data.range(of: Data("ELD1".utf8)) {
                data.replaceSubrange(mark, with: Data(count: 4))
            }
            try data.write(to: file)
            let salvage = try LedgerSalvage(
                of: scratch.path,
                masterKey: (0..<32).map { UInt8($0) },
                rules: `A salvage`.rules,
                supplies: [LedgerCopy(at: copy)]
            )
            #expect(try salvage.rescue(into: new).isWhole)
            #expect(try !Self.findings(sealed, copy).isEmpty, "the control: the copy has it")
            #expect(try Self.findings(sealed, new).isEmpty)
            let log = try LMDBLog(path: new + "/log", isReadOnly: true)
            defer { log.close() }
            for sequence in [UInt64(0), 1] {
                let attached = try #require(try log.attached(at: sequence))
                #expect(ErasedEvidence.digest(attached.span) != nil)
            }
        }
    }

    // Of bob nothing else is known: he has no stream, and gets one by his erasure.
    @Test func `is known to whoever asks what an erasure would take`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.record(scratch)
            let eraser = scratch.ledger.eraser
            let asked: [CustomerID] = ["bob", "nobody"]
            #expect(try eraser.plannedErasure(of: asked).unknown == ["bob", "nobody"], "control")
            let plan = try eraser.plannedErasure(of: asked, reading: StoredEvidenceNames())
            #expect(plan.unknown == ["nobody"] && plan.streams.isEmpty)
            let bob = StreamName(.customer("bob"), in: .production)
            #expect(try scratch.directory.vault.stream(of: bob) == nil, "none is reserved")
        }
    }

    // The mark alone proves nothing: whoever writes to the file could put one anywhere.
    @Test func `is missed where no erasure says that it is deleted`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.record(scratch)
            try scratch.directory.log.eraseEvidence(of: [2])
            let faults = try scratch.ledger.auditor.audit().faults
            #expect(faults.map(\.kind) == [.evidence] && faults.map(\.sequence) == [2])
        }
    }
}
