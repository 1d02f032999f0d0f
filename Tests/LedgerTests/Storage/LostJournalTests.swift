import Encodings
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations
import Stores
import Testing

@testable import EntitlementLedger

/// The vault's second copy is there when it is needed: an audit says where it is not (Storage,
/// "Vault and erasure").
struct `A lost vault journal` {
    private static let customers = 20

    /// What may become of the file.
    enum Loss: CaseIterable {
        case missing, empty, cutAtStart, cutAtEnd, altered

        func apply(to url: URL) throws {
            var content = try Data(contentsOf: url)
            switch self {
            case .missing: return try FileManager.default.removeItem(at: url)
            case .empty: content = Data()
            case .cutAtStart: content = content.dropFirst(100)
            case .cutAtEnd: content = content.dropLast(100)
            case .altered: content[content.startIndex + content.count / 2] ^= 1
            }
            try content.write(to: url)
        }
    }

    /// Lends a closed ledger and its journal.
    private static func with(_ body: (ScratchLedger, URL) throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            for number in 0..<customers {
                let lines = Sample.ownedPurchase("u\(number)", "app_store/\(number)")
                _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            }
            try scratch.close()
            try body(scratch, URL(filePath: scratch.path + "/vault/journal"))
        }
    }

    /// What an audit by a process that only reads says of the vault.
    private static func faults(_ scratch: ScratchLedger) throws -> [AuditFault] {
        let ledger = try Ledger.open(
            at: scratch.path,
            options: ScratchLedger.options(scratch.clock, isReadOnly: true)
        )
        defer { try? ledger.close() }
        return try ledger.auditor.audit().faults
    }

    @Test(arguments: Loss.allCases)
    func `is found, and completed from the vault`(_ loss: Loss) async throws {
        try await Self.with { scratch, journal in
            // The control.
            #expect(try Self.faults(scratch).isEmpty)
            try loss.apply(to: journal)
            let faults = try Self.faults(scratch)
            #expect(faults.map(\.kind) == [.vault], "\(faults)")
            #expect(faults.allSatisfy { $0.detail.contains("journal") })
            try scratch.reopen()
            // Whoever writes makes one that is gone anew; the rest is for whoever mends it.
            let isGone = loss == .missing || loss == .empty
            #expect(try scratch.ledger.auditor.audit().isOK == isGone)
            try scratch.directory.vault.completeJournal()
            #expect(try scratch.ledger.auditor.audit().isOK)
            try scratch.close()
            #expect(try Self.faults(scratch).isEmpty)
        }
    }

    // A writer that was stopped wrote to the vault first; the next one completes it.
    @Test func `is none where a writer was stopped between the two`() async throws {
        try await Self.with { scratch, journal in
            try Loss.cutAtEnd.apply(to: journal)
            let mark = scratch.path + "/unclean"
            try Data().write(to: URL(filePath: mark))
            #expect(try Self.faults(scratch).isEmpty)
            try scratch.reopen()
            #expect(try scratch.ledger.auditor.audit().isOK)
            try scratch.close()
            #expect(!FileManager.default.fileExists(atPath: mark))
            #expect(try Self.faults(scratch).isEmpty)
        }
    }

    // Erasures leave dead entries in it, and tombstones.
    @Test func `is none after an erasure`() async throws {
        try await Self.with { scratch, _ in
            try scratch.reopen()
            _ = try scratch.ledger.eraser.erase(
                ["u3"],
                Request(id: "e", source: "support", environment: .production),
                reading: StoredEvidenceNames()
            )
            #expect(try scratch.ledger.auditor.audit().isOK)
            try scratch.close()
            #expect(try Self.faults(scratch).isEmpty)
        }
    }
}
