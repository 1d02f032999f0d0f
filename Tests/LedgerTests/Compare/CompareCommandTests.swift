import Encodings
import Testing

/// `entitle compare revenuecat`.
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `A comparison by the command` {
    // Nobody differed in it, and it ended as if everybody were the same.
    @Test(arguments: ["", "\n\r\n", "\u{FEFF}\n"])
    func `is refused a list that names nobody, as an erasure is`(_ text: String) async throws {
        try await CommandLedger.with { ledger in
            _ = try ledger.file("secret", "0123456789abcdef")
            let revenueCat =
                #"{"apiKeyFile":"secret","projectId":"p","apiURL":"http://127.0.0.1:1"}"#
            let stores = try ledger.file("stores.json", #"{"revenueCat":\#(revenueCat)}"#)
            let list = try ledger.file("list", text)
            for words in [
                ["compare", "revenuecat", "--stores", stores], ["erase", "--dry-run"],
            ] {
                let refused = try await ledger.run(words + ["--customers", list])
                #expect(refused.code == 65 && refused.problemCode == "invalid_value")
                #expect(refused.problem?["detail"]?.string == list, "\(words): \(refused)")
            }
        }
    }
}
