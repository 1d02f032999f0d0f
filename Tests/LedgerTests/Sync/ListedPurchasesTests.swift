import Encodings
import Foundation
import LedgerOperations
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
