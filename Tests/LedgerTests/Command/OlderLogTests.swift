import Encodings
import Entitlements
import Foundation
import Testing

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A log that is an older one` {
    // Law 1: a log that is sound in itself may still lack what was acknowledged
    @Test func `is not taken for the log that was closed`() async throws {
        try await CommandLedger.with { ledger in
            let file = URL(filePath: ledger.path + "/log/data.mdb")
            let older = try Data(contentsOf: file)
            let granted = try await ledger.run(["grant", "ann", "--tier", "pro"])
            #expect(granted.code == 0, "\(granted.errors)")
            let newer = try Data(contentsOf: file)
            try older.write(to: file)
            for words in [["show", "ann"], ["grant", "bob", "--tier", "pro"], ["audit"]] {
                let outcome = try await ledger.run(words)
                #expect(outcome.code == 3, "\(words): \(outcome)")
            }
            // The negative control
            try newer.write(to: file)
            let shown = try await ledger.run(["show", "ann"])
            #expect(shown.code == 0, "\(shown.errors)")
            #expect(shown.json?["grants"]?.array?.count == 1)
        }
    }
}
