import Encodings
import Entitlements
import Foundation
import LMDBStorage
import Testing

/// How the command erases (Interfaces, "The command").
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The command erases` {
    // Z6
    @Test func `and says what stands where it was stopped behind the record`() async throws {
        try await CommandLedger.with { ledger in
            for customer in ["ann", "bob"] {
                try ledger.record(Sample.ownedPurchase(customer, "app_store/\(customer)"))
            }
            let list = URL(filePath: ledger.path + "/" + BackupList.fileName)
            try Data("no list".utf8).write(to: list)
            let erase = ["erase", "ann", "--confirm", "ann"]
            let stopped = try await ledger.run(erase)
            #expect(stopped.code != 0, "\(stopped)")
            let title = stopped.problem?["title"]?.string ?? ""
            #expect(title.hasPrefix("the erasure is recorded, and not finished"), "\(stopped)")
            let hint = stopped.problem?["hint"]?.string ?? ""
            let words = hint.split(separator: " ")
            let place = try #require(words.firstIndex(of: "--id"), "\(stopped)")
            let id = String(try #require(words[place...].dropFirst().first))
            func findings() async throws -> [String] {
                let found = try await ledger.run(["doctor"]).json?["findings"]?.array ?? []
                return found.compactMap { $0["code"]?.string }
            }
            try FileManager.default.removeItem(at: list)
            #expect(try await findings().contains("erasure_unfinished"))
            // The control: another request does not pass for the one that erased.
            let other = try await ledger.run(erase)
            #expect(other.code == 0 && other.json?["receipt"] == .null, "\(other)")
            let told = try await ledger.run(erase + ["--id", id])
            #expect(told.code == 0 && told.json?["receipt"]?["note"] != nil, "\(told)")
            #expect(try await !findings().contains("erasure_unfinished"))
        }
    }
}
