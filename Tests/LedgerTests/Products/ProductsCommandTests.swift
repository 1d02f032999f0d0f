import Encodings
import Foundation
import Testing

/// Products of stores, from the command (rows 1.1 to 1.5).
@Suite(.enabled(if: EntitleCommand.isPresent, EntitleCommand.absence))
struct `Products, from the command` {
    private static let file = """
        {"products":[{"productID":"pro.life","type":"NonConsumable","displayPrice":"49.99",
           "localizations":[{"locale":"en_US","displayName":"Pro for life"},
                            {"locale":"ja","displayName":"永久プロ"}]}],
         "subscriptionGroups":[{"id":"g","subscriptions":[
           {"productID":"unknown","type":"RecurringSubscription","recurringSubscriptionPeriod":"P1M"}]}]}
        """

    // rows 1.1, 1.2, 1.4
    @Test func `are taken from a file of Xcode, and told without it`() async throws {
        try await CommandLedger.with { ledger in
            let file = try ledger.file("Products.storekit", Self.file)
            let loaded = try await ledger.run(["products", "--from", file])
            #expect(loaded.code == 0, "\(loaded.errors)")
            try FileManager.default.removeItem(atPath: file)
            let answer = try #require(
                try await ledger.run(["products", "--locale", "ja", "--storefront", "USA"]).json
            )
            let products = try #require(answer["products"]?.array)
            #expect(products.map { $0["productId"]?.string } == ["pro.life", nil])
            #expect(products.first?["features"] == .strings(["export"]))
            let metadata = try #require(products.first?["metadata"])
            #expect(metadata["name"]?.string == "永久プロ")
            #expect(metadata["price"]?["priceMicros"] == .integer(49_990_000))
            #expect(metadata["ageSeconds"]?.integer.map { (0..<3600).contains($0) } == true)
            #expect(answer["untold"] == .strings(["pro.month"]))
            let text = try await EntitleCommand.run(["products", "--ledger", ledger.path])
            #expect(text.code == 0 && text.output.contains("app_store: 2 products, loaded"))
            #expect(text.output.contains("Pro for life  $49.99"))
            #expect(text.output.contains("not in the catalog"))
            #expect(text.output.contains("no store told of: pro.month"))
        }
    }

    // row 1.5
    @Test func `stay where a load fails, which is said and recorded`() async throws {
        try await CommandLedger.with { ledger in
            let good = try ledger.file("good.storekit", Self.file)
            #expect(try await ledger.run(["products", "--from", good]).code == 0)
            for (name, text) in [("cut", "{\"products\":["), ("none", #"{"products":[]}"#)] {
                let bad = try ledger.file(name, text)
                let failed = try await ledger.run(["products", "--from", bad])
                #expect(failed.code == 65 && failed.problemCode == "malformed", "\(failed.errors)")
                let kept = try #require(try await ledger.run(["products"]).json)
                #expect(kept["products"]?.array?.count == 2)
                let fault = try #require(kept["sources"]?.array?.first?["fault"])
                #expect(fault["code"]?.string == (name == "cut" ? "malformed" : "empty"))
            }
            let events = try await ledger.run(["events", "--type", "failure.recorded"])
            #expect(events.output.split(separator: "\n").count == 2)
            #expect(events.output.contains("products_empty"))
            let again = try await ledger.run(["products", "--from", good])
            #expect(again.json?["sources"]?.array?.first?["fault"] == .null)
        }
    }

    @Test func `are told of where what is kept is damaged`() async throws {
        try await CommandLedger.with { ledger in
            let good = try ledger.file("good.storekit", Self.file)
            #expect(try await ledger.run(["products", "--from", good]).code == 0)
            let kept = ledger.path + "/products/app_store.json"
            let text = try String(contentsOfFile: kept, encoding: .utf8)
            try Data(text.replacing("49990000", with: "499").utf8).write(to: URL(filePath: kept))
            let answer = try await ledger.run(["products"])
            #expect(answer.code == 0 && answer.json?["products"] == .array([]))
            #expect(answer.json?["sources"]?.array?.first?["isDamaged"] == .bool(true))
        }
    }

    private static let refused: [(arguments: [String], code: Int32)] = [
        (["--load"], 78), (["--from", "/nonexistent/x.storekit"], 66),
        (["--from", "x", "--load"], 64), (["--store", "nowhere"], 64),
        (["--locale", "no locale"], 64), (["--storefront", "ATLANTIS"], 64),
        (["--from", "x", "--store", "play_store"], 64),
    ]

    @Test(arguments: refused)
    func `are asked for as is said`(arguments: [String], code: Int32) async throws {
        try await CommandLedger.with { ledger in
            let outcome = try await ledger.run(["products"] + arguments)
            #expect(outcome.code == code, "\(outcome.errors)")
            #expect(try await ledger.run(["products"]).code == 0, "the control")
        }
    }
}
