import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations
import Testing

struct `A ledger that is mended where it stands` {
    private static func filled(_ body: (FileLedger) throws -> Void) throws {
        try FileLedger.with { ledger throws in
            _ = try ledger.importing((0..<20).map { FileLedger.grant("g\($0)", to: "u\($0)") })
            try body(ledger)
        }
    }

    /// The kinds of faults that an audit names.
    private static func kinds(_ ledger: FileLedger) throws -> [AuditFault.Kind] {
        try ledger.open(isReadOnly: true) { try $0.auditor.audit().faults.map(\.kind) }
    }

    private static func heal(_ ledger: FileLedger) throws -> [HealedPart] {
        let answer = try LedgerHealing(of: ledger.path, options: FileLedger.options) {
            try ledger.open(isReadOnly: true) { try $0.auditor.audit() }
        }
        .run()
        #expect(answer.isOK)
        return answer.healed
    }

    // The negative control: nothing is mended where nothing is damaged
    @Test func `is left alone if it is sound`() throws {
        try Self.filled { ledger throws in #expect(try Self.heal(ledger).isEmpty) }
    }

    @Test func `has its journal written anew`() throws {
        try Self.filled { ledger throws in
            let journal = ledger.path + "/vault/journal"
            try FileManager.default.removeItem(atPath: journal)
            #expect(try Self.kinds(ledger) == [.vault])
            #expect(try Self.heal(ledger).map(\.name) == [.journal])
            #expect(try Self.kinds(ledger).isEmpty)
        }
    }

    @Test func `has a dead meta page copied from the other`() throws {
        try Self.filled { ledger throws in
            let file = URL(filePath: ledger.path + "/log/data.mdb")
            var bytes = try Data(contentsOf: file)
            // The older of both: the last commit stays.
            let older = Self.transaction(bytes, 0) < Self.transaction(bytes, 1) ? 0 : 1
            bytes.replaceSubrange(older * 4096..<(older + 1) * 4096, with: Data(count: 4096))
            try bytes.write(to: file)
            let healed = try Self.heal(ledger)
            #expect(healed.map(\.name) == [.log] && healed.map(\.page) == [older])
            #expect(try ledger.size() == 21)
            #expect(try Self.kinds(ledger).isEmpty)
        }
    }

    /// The number of the transaction that wrote a meta page, its last word.
    private static func transaction(_ file: Data, _ page: Int) -> UInt64 {
        let start = page * 4096 + 144
        return file[start..<(start + 8)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
