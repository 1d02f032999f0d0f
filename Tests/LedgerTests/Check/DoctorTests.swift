import Encodings
import Foundation
import LedgerAPI
import Testing

@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `The doctor` {
    private static func codes(_ outcome: EntitleCommand.Outcome) -> [String] {
        outcome.json?["findings"]?.array?.compactMap { $0["code"]?.string } ?? []
    }

    private static func code(_ code: Finding.Code) -> String { code.rawValue }

    /// What lies under a folder: names, sizes and times.
    private static func files(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted().map { file in
            let found = try FileManager.default.attributesOfItem(atPath: folder + "/" + file)
            return "\(file) \(found[.size] ?? "") \(found[.modificationDate] ?? "")"
        }
        // Readers note themselves in it.
        .filter { !$0.contains("lock.mdb") }
    }

    @Test func `says what is wrong, what to do, and changes nothing`() async throws {
        try await CommandLedger.with { ledger in
            let before = try Self.files(ledger.path)
            let outcome = try await ledger.run(["doctor"])
            // A new ledger has no backup, and its key beside it.
            #expect(outcome.code == 1, "\(outcome)")
            #expect(outcome.json?["ok"]?.bool == false)
            let codes = Self.codes(outcome)
            for expected: Finding.Code in [.backupMissing, .keyBesideData, .storesMissing] {
                #expect(codes.contains(expected.rawValue), "\(codes)")
            }
            for other: Finding.Code in [.unreadable, .notReady, .auditFaults, .keyUnusable] {
                #expect(!codes.contains(other.rawValue), "\(codes)")
            }
            #expect(try Self.files(ledger.path) == before)
            let text = try await EntitleCommand.run(["doctor", "--ledger", ledger.path])
            #expect(text.code == 1 && text.output.contains("[backup_missing]\n  do: "))
            let keyless = try await ledger.run(["doctor", "--without-key"])
            #expect(Self.codes(keyless) == codes, "\(keyless)")
        }
    }

    @Test func `goes on where there is no key, or the log is damaged`() async throws {
        try await CommandLedger.with { ledger in
            let key = ledger.path + "/key"
            try FileManager.default.moveItem(atPath: key, toPath: key + ".away")
            let keyless = Self.codes(try await ledger.run(["doctor"]))
            #expect(keyless.contains(Self.code(.keyUnusable)), "\(keyless)")
            #expect(keyless.contains(Self.code(.backupMissing)), "\(keyless)")
            try FileManager.default.moveItem(atPath: key + ".away", toPath: key)
            let log = try FileHandle(forUpdating: URL(filePath: ledger.path + "/log/data.mdb"))
            try log.truncate(atOffset: 8192)
            try log.close()
            let damaged = try await ledger.run(["doctor"])
            #expect(damaged.code == 1, "\(damaged)")
            let codes = Self.codes(damaged)
            #expect(codes.contains(Self.code(.auditFaults)), "\(codes)")
        }
    }

    @Test func `says where it could not look`() async throws {
        try await withScratchDirectory { folder in
            let outcome = try await EntitleCommand.run([
                "doctor", "--json", "--ledger", folder + "/nowhere",
            ])
            #expect(outcome.code == 2 && outcome.problemCode != nil, "\(outcome)")
        }
    }
}
