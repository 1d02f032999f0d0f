import Entitlements
import EventLog
import Foundation
import Testing

@testable import EntitlementLedger

/// What keeps a ledger from its whole work.
struct `An impediment` {
    @Test func `is none where nothing stands in the way, and named while views are made anew`()
        async throws
    {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: 0..<3, publishing: true)
            let ledger = try viewed.open()
            #expect(ledger.auditor.impediments() == [])
            var met: [[Impediment]] = []
            _ = try ledger.auditor.rebuild { _, _ in met.append(ledger.auditor.impediments()) }
            #expect(met == [[.recovering]])
            #expect(ledger.auditor.impediments() == [])
            try ledger.close()
        }
    }

    @Test func `is a vault that is not at hand`() async throws {
        try await withScratchDirectory { folder in
            let viewed = try ViewedLedger(folder + "/views")
            try viewed.fill(customers: 0..<3, publishing: true)
            let keyless = try Ledger(
                identity: LedgerIdentity(id: Array(repeating: 1, count: 16), origin: "x/log"),
                reading: viewed.log,
                publicKey: viewed.vault.verifierKey(named: "x/log"),
                options: Ledger.Options(
                    viewsPath: viewed.path,
                    bootID: "test",
                    isReadOnly: true,
                    clock: { Sample.day(40) }
                )
            )
            #expect(keyless.auditor.impediments() == [.vault])
            try keyless.close()
        }
    }
}
