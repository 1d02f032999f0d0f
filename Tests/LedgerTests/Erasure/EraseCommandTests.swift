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

    // row 9.4; ids are bytes, and few of them end a line
    @Test func `whom a file names line by line, and nobody else`() async throws {
        try await CommandLedger.with { ledger in
            for customer in ["ann", "bob"] {
                try ledger.record(Sample.ownedPurchase(customer, "app_store/\(customer)"))
            }
            let odd = "ali\u{2028}bob"
            let file = try ledger.file("list", "\u{FEFF}\(odd)\r\n\nann\nann\n")
            let erase = ["erase", "--customers", file]
            let planned = try await ledger.run(erase + ["--dry-run"])
            #expect(planned.json?["unknown"] == .strings([odd]), "\(planned)")
            let done = try await ledger.run(erase + ["--confirm", "2"])
            #expect(done.code == 0 && done.json?["receipt"] != .null, "\(done)")
            #expect(try await ledger.show("ann")["purchases"]?.array?.isEmpty == true)
            #expect(try await ledger.show("bob")["purchases"]?.array?.count == 1)
        }
    }

    @Test func `nobody by a file with a line that names none`() async throws {
        try await CommandLedger.with { ledger in
            let file = ledger.folder + "/list"
            for line in [[0x61, 0x01], [0x61, 0xFF]] as [[UInt8]] {
                try Data([0x61, 0x0A] + line + [0x0A]).write(to: URL(filePath: file))
                let refused = try await ledger.run(["erase", "--customers", file, "--confirm", "2"])
                #expect(refused.code == 65 && refused.problemCode == "malformed", "\(refused)")
                #expect(refused.problem?["detail"]?.string == file + ", line 2", "\(refused)")
            }
        }
    }
}
