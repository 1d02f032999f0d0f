import Encodings
import Foundation
import LedgerOperations
import StoreSimulator
import Synchronization
import Testing

/// Lists of purchases that stores are asked about.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A list of purchases` {
    /// Lends a sync of lists, by stores none of which sells what is listed.
    private static func with(
        _ body: (
            _ list: String, _ sync: (_ text: String) async throws -> EntitleCommand.Outcome
        ) async throws -> Void
    ) async throws {
        try await CommandLedger.with { ledger in
            _ = try ledger.file("secret", "0123456789abcdef")
            let revenueCat =
                #"{"apiKeyFile":"secret","projectId":"p","apiURL":"http://127.0.0.1:1"}"#
            let stores = try ledger.file("stores.json", #"{"revenueCat":\#(revenueCat)}"#)
            try await body(ledger.folder + "/list") { text in
                let list = try ledger.file("list", text)
                return try await ledger.run(["sync", "--from", list, "--stores", stores])
            }
        }
    }

    @Test func `is refused at a line that is too long to be read`() async throws {
        try await Self.with { list, sync in
            let long = String(repeating: "1", count: LineReader.lineByteLimit + 1)
            for (lines, number) in [([long], 1), (["app_store/1000000000001", long], 2)] {
                let refused = try await sync(lines.map { $0 + "\n" }.joined())
                #expect(refused.code == 65 && refused.problemCode == "malformed", "\(refused)")
                let place = "\(list), line \(number)"
                #expect(refused.problem?["detail"]?.string == place, "\(refused)")
            }
            // The control: a heading is no such line.
            let heading = try await sync("purchase,day\n")
            #expect(heading.code != 65, "\(heading)")
        }
    }

    // row 8.1: a store that knows nothing of a purchase would say so again, one that tells nobody would not.
    @Test func `is done where its store knows nothing of it, not where that tells nobody`()
        async throws
    {
        try await CommandLedger.with { ledger in
            let stores = ledger.folder + "/stores"
            let (trusted, list) = (
                stores + "/stores.json", try ledger.file("list", "2000000999999\n")
            )
            func sync() async throws -> (Int32, String?) {
                let synced = try await ledger.run(["sync", "--from", list, "--stores", trusted])
                let failure = synced.json?["failures"]?.array?.first
                return (synced.code, failure?["code"]?.string)
            }
            let process = Process()
            process.executableURL = URL(filePath: try #require(EntitleCommand.executable))
            process.arguments = [
                "simulate", "serve", "--port", "0", "--out", stores, "--scenario",
                "grace_recovered", "--json",
            ]
            process.environment = ["PATH": "/usr/bin:/bin", "NO_COLOR": "1"]
            process.currentDirectoryURL = URL(filePath: ledger.folder)
            let output = Pipe()
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try Forking.lock.withLock { _ in try process.run() }
            defer { if process.isRunning { process.terminate() } }
            // The first line: whom to trust is written by then.
            let first = output.fileHandleForReading.availableData
            #expect(String(decoding: first, as: UTF8.self).contains("listening"))
            #expect(try await sync() == (0, "not_found"))
            let text = try String(contentsOfFile: trusted, encoding: .utf8)
            let stranger = "00000000-0000-0000-0000-000000000000"
            let changed = text.replacing(SimulatedAppStoreAPI.issuerID, with: stranger)
            #expect(changed != text)
            try Data(changed.utf8).write(to: URL(filePath: trusted))
            #expect(try await sync() == (75, "not_permitted"))
        }
    }

    // The first line was taken for a heading, and nobody was asked about its purchase.
    @Test func `begins behind a byte-order mark, and goes on behind blank lines`() async throws {
        try await Self.with { _, sync in
            let rows = ["\u{FEFF}GPA.3300-1,Charged\r", "\r", " ", "GPA.3300-2,Charged\r"]
            let listed = try await sync(rows.map { $0 + "\n" }.joined())
            #expect(listed.code == 0, "\(listed)")
            #expect(listed.json?["notAsked"]?.integer == 2, "\(listed)")
        }
    }
}
