import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations
import Salvage
import Synchronization
import Testing

/// What records carried may be lost for good while they are whole (row 3.6, row Z5).
struct `Evidence that no salvage brings back` {
    private static let chain = [UInt8](repeating: 65, count: 3000)

    private static func submission(_ number: Int) throws -> Submission {
        let event = try Sample.event(
            "e\(number)",
            "signal.noted",
            "store/app_store",
            data: #"{"name":"test"}"#
        )
        return Submission(
            id: "e\(number)",
            source: Source.appStore,
            environment: .production,
            nature: .signal,
            drafts: [event.draft],
            evidenceParts: [.shared(chain), .bytes(Array("number \(number)".utf8))]
        )
    }

    /// A ledger of three events with evidence that has a part in common, archived, closed, and damaged.
    ///
    /// `change`: what happens to the log's file; it is told the bytes of the second evidence.
    private static func damaged(
        by change: (inout Data, _ evidence: [UInt8]) -> Void,
        _ body: (_ damaged: String, _ archive: String) throws -> Void
    ) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.record((0..<3).map(submission))
            _ = try scratch.ledger.prover.checkpoint()
            let archive = scratch.path + "-archive"
            _ = try scratch.ledger.archiver.archive(
                to: ArchiveDirectory(at: archive, forWriting: true),
                manifest: LedgerDirectory.manifestBytes(at: scratch.path)
            )
            let evidence = try #require(try scratch.directory.log.attached(at: 1))
            try scratch.close()
            try `A salvage`.damage(scratch.path) { change(&$0, evidence) }
            try body(scratch.path, archive)
        }
    }

    /// Lends a ledger that was rescued, open to be written to.
    private static func writing<Result>(
        _ path: String,
        _ body: (OpenLedger) throws -> Result
    ) throws -> Result {
        let open = try OpenLedger(at: path, options: ScratchLedger.options(TestClock()))
        defer { Forking.lock.withLock { _ in try? open.close() } }
        return try body(open)
    }

    private static func backUp(_ path: String, into place: String) throws {
        try writing(path) { open in
            let outcome = try LedgerBackup(of: open, into: place).write(
                vault: `A salvage`.masterKey
            ) { Issue.record("\($0)") }
            guard case .written = outcome else {
                Issue.record("\(outcome)")
                return
            }
        }
    }

    private static func faults(_ path: String) throws -> [AuditFault] {
        try writing(path) { try $0.ledger.auditor.audit().faults }
    }

    @Test func `is told where it is a part that others have in common`() async throws {
        let magic = Data("ELS1".utf8)
        func loseParts(_ data: inout Data, _ evidence: [UInt8]) {
            while let place = data.range(of: magic) {
                data.replaceSubrange(place, with: Data(count: magic.count))
            }
        }
        try await Self.damaged(by: loseParts) { damaged, archive in
            let report = try `A salvage`.rescue(damaged, into: damaged + "-rescued")
            #expect(report.lostAttached == [0, 1, 2])
            #expect(!report.isWhole)
            #expect(try LedgerDirectory.knownLoss(at: damaged + "-rescued")?.attached == 3)
            // What is left of it is kept all the same, elsewhere too.
            try Self.backUp(damaged + "-rescued", into: damaged + "-backup")
            // The control: an archive has the part.
            let key = try LedgerDirectory.manifest(at: damaged).publicKey
            let filled = try LedgerSalvage(
                of: damaged,
                masterKey: `A salvage`.masterKey,
                rules: `A salvage`.rules,
                supplies: [ArchiveCopy(at: archive, publicKey: key)]
            ).plan()
            #expect(filled.isWhole)
        }
    }

    @Test func `holds up no backup and no restore, and is told by what comes of them`() async throws
    {
        func loseOne(_ data: inout Data, _ evidence: [UInt8]) {
            `A salvage`.erase(evidence, in: &data)
        }
        try await Self.damaged(by: loseOne) { damaged, archive in
            let (rescued, backup) = (damaged + "-rescued", damaged + "-backup")
            #expect(try `A salvage`.rescue(damaged, into: rescued).lostAttached == [1])
            let loss = try #require(try LedgerDirectory.knownLoss(at: rescued))
            #expect(loss == KnownLoss(attached: 1))
            try Self.backUp(rescued, into: backup)
            let restored = damaged + "-restored"
            _ = try LedgerRestore(from: backup, cut: .everything).write(
                into: restored,
                masterKey: `A salvage`.masterKey
            )
            #expect(try LedgerDirectory.knownLoss(at: restored) == loss)
            for path in [rescued, restored] {
                let faults = try Self.faults(path)
                #expect(faults.map(\.kind) == [.evidence] && faults.map(\.sequence) == [1])
            }
            // Nor does it hold up whoever reads evidence.
            try Self.writing(rescued) { open in
                #expect(try open.ledger.questions.evidence(of: 1) == nil)
                #expect(try open.ledger.questions.evidence(of: 0) != nil)
                let replay = try open.ledger.auditor.replay(knownAt: .everything)
                    .evidence(environment: .production) { _, _, _ in .verified }
                #expect(replay.erased == 1 && replay.verified == 2)
            }
            // An archive that had it before has it still.
            try Self.writing(rescued) { open in
                _ = try open.ledger.appender.record(Self.submission(3))
                _ = try open.ledger.prover.checkpoint()
                let store = try ArchiveDirectory(at: archive, forWriting: true)
                let manifest = try LedgerDirectory.manifestBytes(at: rescued)
                let progress = try open.ledger.archiver.archive(to: store, manifest: manifest)
                #expect(progress.archived == 4)
                #expect(try ArchiveReader(store).attached(ofBundle: 0).count == 4)
                #expect(try open.ledger.archiver.audit(store).findings.isEmpty)
            }
            // The control: what nobody knows to be lost is damage.
            try FileManager.default.removeItem(atPath: rescued + "/loss.json")
            let fault = #expect(throws: LogStorageFault.self) {
                try Self.backUp(rescued, into: damaged + "-second")
            }
            #expect(fault?.code == .damaged)
            let evidence = #expect(throws: LogStorageFault.self) {
                try Self.writing(rescued) { try $0.ledger.questions.evidence(of: 1) }
            }
            #expect(evidence?.code == .damaged)
        }
    }
}
