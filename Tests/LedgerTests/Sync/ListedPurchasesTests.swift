import Encodings
import Foundation
import LedgerOperations
import Testing

/// Lists of purchases that stores are asked about.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A list of purchases` {
    @Test func `is refused at a line that is too long to be read`() async throws {
        try await CommandLedger.with { ledger in
            _ = try ledger.file("secret", "0123456789abcdef")
            let revenueCat =
                #"{"apiKeyFile":"secret","projectId":"p","apiURL":"http://127.0.0.1:1"}"#
            let stores = try ledger.file("stores.json", #"{"revenueCat":\#(revenueCat)}"#)
            func sync(_ lines: [String]) async throws -> EntitleCommand.Outcome {
                let list = try ledger.file("list", lines.map { $0 + "\n" }.joined())
                return try await ledger.run(["sync", "--from", list, "--stores", stores])
            }
            let long = String(repeating: "1", count: LineReader.lineByteLimit + 1)
            for (lines, number) in [([long], 1), (["app_store/1000000000001", long], 2)] {
                let refused = try await sync(lines)
                #expect(refused.code == 65 && refused.problemCode == "malformed", "\(refused)")
                let place = ledger.folder + "/list, line \(number)"
                #expect(refused.problem?["detail"]?.string == place, "\(refused)")
            }
            // The control: a heading is no such line.
            let heading = try await sync(["purchase,day"])
            #expect(heading.code != 65, "\(heading)")
        }
    }
}
