import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
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
                _ = try scratch.ledger.checkpoint()
                try kept.keep()
                try body(kept)
            }
        }
    }

    private func fill() throws {
        _ = try scratch.ledger.publish(
            try Sample.catalog(),
            effective: Sample.newYear,
            Request(id: "c", source: Source.catalog, environment: .production)
        )
        for batch in 0..<3 {
            let lines = (0..<60).flatMap {
                Sample.ownedPurchase("u\($0)", "app_store/\(batch)-\($0)")
            }
            _ = try scratch.ledger.record(Sample.submissions(lines))
            _ = try scratch.ledger.record(
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
        _ = try scratch.ledger.archive(
            to: ArchiveDirectory(at: archive, forWriting: true),
            manifest: LedgerDirectory.manifestBytes(at: scratch.path)
        )
        _ = try scratch.directory.copyVault(to: vault, masterKey: Self.masterKey)
    }

    /// Restores and lends the result, open to be read.
    func restored(
        _ cut: ArchiveRestore.Cut,
        erased: Set<UInt64> = [],
        _ body: (OpenLedgerDirectory, Ledger) throws -> Void
    ) throws {
        let place = folder + "/restored-\(UUID().uuidString)"
        let reader = ArchiveReader(try ArchiveDirectory(at: archive, forWriting: false))
        let restore = try ArchiveRestore(reader, key: scratch.ledger.verifierKey)
        let plan = try restore.plan(cut)
        _ = try LedgerDirectory.restore(
            at: place,
            from: LedgerDirectory.Restoration(
                manifest: try #require(try reader.manifest()),
                vault: vault,
                published: plan.restored < plan.archived ? plan.checkpoint : nil
            ),
            masterKey: Self.masterKey
        ) { try restore.run(plan, into: $0).union(erased) }
        let clock = scratch.clock
        let directory = try OpenLedgerDirectory(
            at: place,
            masterKey: Self.masterKey,
            forWriting: true,
            clock: { clock.now.milliseconds },
            randomness: .system
        )
        defer { Forking.lock.withLock { _ in directory.close() } }
        let ledger = try Ledger(
            identity: scratch.ledger.identity,
            log: directory.log,
            vault: directory.vault,
            options: Ledger.Options(
                viewsPath: place + "/" + LedgerDirectory.viewsName,
                bootID: "test",
                isReadOnly: false,
                clock: { clock.now },
                published: directory.published
            )
        )
        try body(directory, ledger)
        try ledger.close()
    }

    func answer(_ ledger: Ledger, _ customer: String, _ known: UInt64?) throws -> JSONValue {
        try ledger.show(
            CustomerQuestion(
                customer: customer,
                environment: .production,
                point: BitemporalPoint(
                    at: scratch.clock.now,
                    knownAt: known.map { .sequence($0) } ?? .everything
                )
            )
        )
    }
}

struct `A restored ledger` {
    @Test func `is the ledger that was archived`() async throws {
        try await KeptLedger.with { kept in
            let scratch = kept.scratch
            try kept.restored(.everything) { directory, ledger in
                let faults = try ledger.audit().faults
                let notes = try [ledger.checkpoint(), scratch.ledger.checkpoint()]
                let ends = try [directory.log.end(), scratch.directory.log.end()]
                #expect(faults.isEmpty)
                #expect(notes[0] == notes[1])
                #expect(ends[0] == ends[1])
                for customer in ["u0", "u59", "r2"] {
                    let asked = try kept.answer(ledger, customer, nil)
                    let known = try kept.answer(scratch.ledger, customer, nil)
                    #expect(asked == known)
                }
                var evidence = 0
                for sequence in try 0..<ledger.size() {
                    let bytes = try ledger.evidence(of: sequence)
                    let whole = try scratch.ledger.evidence(of: sequence)
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
            let size = try scratch.ledger.size()
            try kept.restored(.recorded(first)) { _, ledger in
                let restored = try ledger.size()
                #expect(restored > 0 && restored < size / 2)
                let faults = try ledger.audit().faults
                #expect(faults.isEmpty)
                let asked = try kept.answer(ledger, "u7", restored)
                let known = try kept.answer(scratch.ledger, "u7", restored)
                #expect(asked == known)
            }
            for wanted in [UInt64(300), 0] {
                try kept.restored(.size(wanted)) { _, ledger in
                    let restored = try ledger.size()
                    #expect(restored == wanted)
                }
            }
            #expect(throws: LedgerFault.self) {
                try kept.restored(.size(size + 1)) { _, _ in }
            }
        }
    }

    // storage.md: a log shorter than a published checkpoint never signs
    @Test func `never signs when it is shorter than what was published`() async throws {
        try await KeptLedger.with { kept in
            try kept.restored(.size(300)) { _, ledger in
                #expect(throws: LedgerFault.self) { try ledger.checkpoint() }
                // Longer than before, but another history.
                let lines = (0..<200).flatMap { Sample.ownedPurchase("v\($0)", "app_store/v\($0)") }
                _ = try ledger.record(Sample.submissions(lines))
                let published = try kept.scratch.ledger.size()
                let size = try ledger.size()
                #expect(size > published)
                let fault = #expect(throws: LedgerFault.self) { try ledger.checkpoint() }
                #expect(fault?.code == .shortened)
            }
            try kept.restored(.everything) { _, ledger in _ = try ledger.checkpoint() }
        }
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
