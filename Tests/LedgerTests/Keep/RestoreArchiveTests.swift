import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations
import ModelSupport
import Stores
import Synchronization
import Testing

/// A ledger with a catalog, purchases and evidence, archived, and its vault copied.
private struct KeptLedger {
    let scratch: ScratchLedger
    let folder: String

    private static let masterKey = (0..<32).map { UInt8($0) }

    var archive: String { folder + "/archive" }
    var vault: String { folder + "/vault" }

    static func with(_ body: (KeptLedger) throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            try await withScratchDirectory { folder in
                let kept = KeptLedger(scratch: scratch, folder: folder)
                try kept.fill()
                _ = try scratch.ledger.prover.checkpoint()
                try kept.keep()
                try body(kept)
            }
        }
    }

    private func fill() throws {
        _ = try scratch.ledger.appender.publish(
            try Sample.catalog(),
            effective: Sample.newYear,
            Request(id: "c", source: Source.catalog, environment: .production)
        )
        for batch in 0..<3 {
            let lines = (0..<60).flatMap {
                Sample.ownedPurchase("u\($0)", "app_store/\(batch)-\($0)")
            }
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            _ = try scratch.ledger.appender.record(
                RevenueCatBody.submission(
                    id: "s\(batch)",
                    user: "r\(batch)",
                    expiration: 1_799_904_000_000
                )
            )
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 3_600_000)
        }
    }

    func keep() throws {
        _ = try scratch.ledger.archiver.archive(
            to: ArchiveDirectory(at: archive, forWriting: true),
            manifest: LedgerDirectory.manifestBytes(at: scratch.path)
        )
        _ = try scratch.directory.copyVault(to: vault, masterKey: Self.masterKey)
    }

    /// Restores and lends the result, open to be read.
    func restored(
        _ cut: ArchiveRestore.Cut,
        erased: Set<UInt64> = [],
        as identity: LedgerDirectory.Identity? = nil,
        _ body: (OpenLedgerDirectory, Ledger) throws -> Void
    ) throws {
        let place = folder + "/restored-\(UUID().uuidString)"
        let reader = ArchiveReader(try ArchiveDirectory(at: archive, forWriting: false))
        let restore = try ArchiveRestore(reader, key: scratch.ledger.prover.verifierKey)
        let plan = try restore.plan(cut)
        _ = try LedgerDirectory.restore(
            at: place,
            from: LedgerDirectory.Restoration(
                manifest: try #require(try reader.manifest()),
                vault: vault,
                published: identity == nil ? plan.published : nil,
                loss: plan.loss,
                signed: restore.checkpoint
            ),
            masterKey: Self.masterKey,
            as: identity
        ) { try restore.run(plan, into: $0, isContinued: identity != nil).union(erased) }
        let open = try OpenLedger(at: place, options: ScratchLedger.options(scratch.clock))
        defer { Forking.lock.withLock { _ in try? open.close() } }
        try body(open.directory, open.ledger)
        try Forking.lock.withLock { _ in try open.close() }
    }

    func answer(_ ledger: Ledger, _ customer: CustomerID, _ known: UInt64?) throws -> JSONValue {
        try ledger.questions.show(
            CustomerQuestion(
                customer: customer,
                environment: .production,
                point: BitemporalPoint(
                    at: scratch.clock.now,
                    knownAt: known.map { .sequence($0) } ?? .everything
                )
            )
        ).json
    }
}

struct `A restored ledger` {
    @Test func `is the ledger that was archived`() async throws {
        try await KeptLedger.with { kept in
            let scratch = kept.scratch
            try kept.restored(.everything) { directory, ledger in
                let faults = try ledger.auditor.audit().faults
                let notes = try [ledger.prover.checkpoint(), scratch.ledger.prover.checkpoint()]
                let ends = try [directory.log.end(), scratch.directory.log.end()]
                #expect(faults.isEmpty)
                #expect(notes[0] == notes[1])
                #expect(ends[0].edge == ends[1].edge)
                #expect(ends[0].lastRecordedAt == ends[1].lastRecordedAt)
                for customer: CustomerID in ["u0", "u59", "r2"] {
                    let asked = try kept.answer(ledger, customer, nil)
                    let known = try kept.answer(scratch.ledger, customer, nil)
                    #expect(asked == known)
                }
                var evidence = 0
                for sequence in try 0..<ledger.questions.size() {
                    let bytes = try ledger.questions.evidence(of: sequence)
                    let whole = try scratch.ledger.questions.evidence(of: sequence)
                    #expect(bytes == whole)
                    evidence += bytes == nil ? 0 : 1
                }
                #expect(evidence >= 3)
            }
        }
    }

    // T3, law 2: what was known at R is a prefix.
    @Test func `ends where it was told, and answers as was known there`() async throws {
        try await KeptLedger.with { kept in
            let scratch = kept.scratch
            let first = scratch.clock.now.advanced(byMilliseconds: -3 * 3_600_000)
            let size = try scratch.ledger.questions.size()
            try kept.restored(.recorded(first)) { _, ledger in
                let restored = try ledger.questions.size()
                #expect(restored > 0 && restored < size / 2)
                let faults = try ledger.auditor.audit().faults
                #expect(faults.isEmpty)
                let asked = try kept.answer(ledger, "u7", restored)
                let known = try kept.answer(scratch.ledger, "u7", restored)
                #expect(asked == known)
            }
            for wanted in [UInt64(300), 0] {
                try kept.restored(.size(wanted)) { _, ledger in
                    let restored = try ledger.questions.size()
                    #expect(restored == wanted)
                }
            }
            #expect(throws: LedgerFault.self) {
                try kept.restored(.size(size + 1)) { _, _ in }
            }
        }
    }

    // Storage, "Proofs": a log shorter than a published checkpoint never signs
    @Test func `never signs when it is shorter than what was published`() async throws {
        try await KeptLedger.with { kept in
            try kept.restored(.size(300)) { _, ledger in
                #expect(throws: LedgerFault.self) { try ledger.prover.checkpoint() }
                // Longer than before, but another history.
                let lines = (0..<200).flatMap { Sample.ownedPurchase("v\($0)", "app_store/v\($0)") }
                _ = try ledger.appender.record(Sample.submissions(lines))
                let published = try kept.scratch.ledger.questions.size()
                let size = try ledger.questions.size()
                #expect(size > published)
                let fault = #expect(throws: LedgerFault.self) { try ledger.prover.checkpoint() }
                #expect(fault?.code == .shortened)
            }
            try kept.restored(.everything) { _, ledger in _ = try ledger.prover.checkpoint() }
        }
    }

    // T3: the way out of a log whose last events were recorded by a clock that ran ahead
    @Test func `goes on under a new name without what a wrong clock recorded`() async throws {
        try await KeptLedger.with { kept in
            let scratch = kept.scratch
            let (now, cut) = (scratch.clock.now, try scratch.ledger.questions.size())
            scratch.clock.now = now.advanced(byMilliseconds: 3650 * Instant.millisecondsPerDay)
            let late = Sample.ownedPurchase("late", "app_store/late")
            _ = try scratch.ledger.appender.record(Sample.submissions(late))
            _ = try scratch.ledger.eraser.erase(
                ["u7"],
                Request(id: "gone", source: Source.ledger, environment: .production),
                reading: StoredEvidenceNames()
            )
            _ = try scratch.ledger.prover.checkpoint()
            try kept.keep()
            scratch.clock.now = now
            let lines = try Sample.submissions(Sample.ownedPurchase("x", "app_store/x"))
            #expect(throws: LedgerFault.self) { try scratch.ledger.appender.record(lines) }

            let identity = (id: [UInt8](repeating: 9, count: 16), origin: "ledger.test/again")
            try kept.restored(.size(cut), as: identity) { directory, ledger in
                #expect(directory.published == nil)
                let signed = try scratch.directory.log.lastCheckpoint()
                let note = try SignedNote.parse(try #require(signed).note)
                let old = try Checkpoint(note.verified(by: [scratch.ledger.prover.verifierKey]))
                let first = try #require(try ledger.questions.event(at: cut)).event.data[.detail]
                let named = "origin \(old.origin), checkpoint \(old.size) \(old.root.base64), "
                #expect(first == .text(named + "lost nothing"))
                let (appended, refused) = try Self.importing(
                    from: cut,
                    of: scratch.ledger,
                    into: ledger
                )
                #expect(appended == late.count && refused > 0)
                #expect(try ledger.questions.lastRecordedAt() == now)
                #expect(try kept.answer(ledger, "u7", nil)["purchases"]?.array?.isEmpty == true)
                let answers = try [ledger, scratch.ledger].map {
                    try kept.answer($0, "late", nil)["purchases"]
                }
                #expect(answers[0] == answers[1])
                #expect(answers[0]?.array?.isEmpty == false)
                #expect(try ledger.prover.checkpoint().contains("ledger.test/again"))
                #expect(try ledger.auditor.audit().isOK)
            }
        }
    }

    /// Imports what one ledger lists from a sequence on, without its recorded times, as the command
    /// does that skips what is refused.
    private static func importing(
        from first: UInt64,
        of source: Ledger,
        into ledger: Ledger
    ) throws -> (appended: Int, refused: Int) {
        var (submissions, refused) = ([Submission](), 0)
        try source.questions.events(EventFilter(sequences: first..<source.questions.size())) {
            _,
            event in
            do {
                submissions.append(Submission(event: try Event(validating: event)))
            } catch is InputFault {
                refused += 1
            }
            return true
        }
        let receipts = try ledger.appender.record(submissions)
        let appended = receipts.count { if case .appended = $0 { true } else { false } }
        return (appended, refused + receipts.count - appended)
    }

    // Z6: erasures of the source hold, also those beyond the cut
    @Test func `does not know whoever was erased`() async throws {
        try await KeptLedger.with { kept in
            let name = StreamName(environment: 0, subject: "customer/u7")
            let stream = try #require(try kept.scratch.directory.vault.stream(of: name))
            try kept.restored(.everything) { directory, _ in
                let keys = try directory.vault.keys(of: stream)
                #expect(keys != nil, "the control")
            }
            try kept.restored(.size(300), erased: [stream]) { directory, ledger in
                let keys = try directory.vault.keys(of: stream)
                let found = try directory.vault.stream(of: name)
                let answer = try kept.answer(ledger, "u7", nil)
                #expect(keys == nil)
                #expect(found == nil)
                #expect(answer["purchases"]?.array?.isEmpty == true)
            }
        }
    }

    @Test func `is not made where something stands, or of a damaged archive`() async throws {
        try await KeptLedger.with { kept in
            let file = kept.archive + "/tile/entries/000"
            var bytes = try Data(contentsOf: URL(filePath: file))
            #expect(throws: LedgerOpenFault.self) {
                try LedgerDirectory.requireRoom(at: kept.archive)
            }
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: URL(filePath: file))
            #expect(throws: (any Error).self) { try kept.restored(.everything) { _, _ in } }
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: URL(filePath: file))
            try kept.restored(.everything) { _, _ in }
        }
    }
}
