import DurableFiles
import Encodings
import Entitlements
import Foundation
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Presentation
import Testing

@testable import LedgerServer

/// The paywall of a customer who came in (row 5.1, row 4.4, B7, PL1, PL2); that it is dark or light, with colours of which each
/// text stands out (row 5.6), a browser sees in `tools/check-pages`.
struct `A paywall` {
    private static let file = Array(
        """
        {"products":[
          {"productID":"coffee","type":"Consumable","displayPrice":"2.99",
           "localizations":[{"locale":"en_US","displayName":"A coffee"}]}],
         "subscriptionGroups":[{"id":"g","subscriptions":[
          {"productID":"pro.month","type":"RecurringSubscription",
           "recurringSubscriptionPeriod":"P1M","displayPrice":"4.99",
           "localizations":[{"locale":"en_US","displayName":"Pro"}],
           "introductoryOffer":{"paymentMode":"free","subscriptionPeriod":"P1W"}},
          {"productID":"pro.year","type":"RecurringSubscription",
           "recurringSubscriptionPeriod":"P1Y","displayPrice":"39.99",
           "localizations":[{"locale":"en_US","displayName":"Pro"}]}]}]}
        """.utf8
    )

    private static func with(
        _ body: @escaping @Sendable (TestServer, _ cookie: String) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "paywall-" + UUID().uuidString).path
        try DurableFile.makeFolder(folder)
        // A folder for temporary files is emptied by itself.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var setup = TestServer.Setup()
        setup.adjust = {
            $0.products = KeptProducts(ofLedgerAt: folder)
            $0.pageLinks.terms = "https://example.com/terms"
            $0.pageLinks.privacy = "https://example.com/privacy"
        }
        try await OwnWorld.with(setup) { server in
            let load = ProductLoad(ProductFiles(ofLedgerAt: folder), clock: { server.clock.now })
            #expect(try load.load(storeKitFile: Self.file).fault == nil)
            try await body(server, try await server.entered(OwnWorld.alice))
        }
    }

    /// The text of the page from a card on, without markup.
    private static func text(_ html: String) -> String {
        html.replacing(#/<[^>]*>/#, with: "|").replacing(#/\|+/#, with: "|")
    }

    // row 5.2, row 5.3, row 5.4, row 2.1: each plan with its price, what is charged exactly, and a link that asks the app
    @Test func `shows plans with what their store asks, and what is charged exactly`() async throws
    {
        try await Self.with { server, cookie in
            let answer = try await server.page("/paywall/export", cookie: cookie)
            #expect(answer.status == 200, "\(answer)")
            let text = Self.text(answer.body)
            #expect(text.contains("$4.99 / month") && text.contains("$39.99 / year"))
            #expect(text.contains("$3.33 a month") && text.contains("Save 33 %"))
            #expect(text.contains("7-day free trial") || text.contains("1-week free trial"))
            #expect(text.contains("Then $4.99 per month, renews automatically until cancelled."))
            #expect(text.contains("$39.99 per year, renews automatically until cancelled."))
            #expect(text.contains("Cancel anytime") && text.contains("Restore purchases"))
            #expect(answer.body.contains("entitle://purchase?product=pro.year"))
            #expect(answer.body.contains("https://example.com/terms"))
            #expect(answer.body.contains("https://example.com/privacy"))
            // Row 4.4: only what opens the gate; the donation opens nothing (PL1).
            #expect(!text.contains("coffee") && !answer.body.contains("product=bingo"))
            #expect(answer.body.contains("<fieldset") && answer.body.contains("type=\"radio\""))
        }
    }

    @Test func `speaks the customer's language`() async throws {
        try await Self.with { server, cookie in
            let japanese = try await server.page("/paywall/export", cookie: cookie, language: "ja")
            #expect(japanese.body.contains("解約するまで自動更新されます。"))
            #expect(japanese.body.contains("購入を復元") && japanese.body.contains("プロ年額"))
            let chinese = try await server.page("/paywall/export?lang=zh-Hant", cookie: cookie)
            #expect(chinese.body.contains("自動續訂直到取消為止。"))
            #expect(chinese.body.contains("<html lang=\"zh-Hant\""))
        }
    }

    @Test func `invents no price`() async throws {
        try await Self.with { server, cookie in
            let elsewhere = try await server.page("/paywall?storefront=FR", cookie: cookie)
            #expect(!elsewhere.body.contains("$") && elsewhere.body.contains("The store shows"))
            #expect(!elsewhere.body.contains("Save "))
        }
    }

    // row 1.4: while nobody reaches its store
    @Test func `dates a price that its store told long ago`() async throws {
        try await Self.with { server, _ in
            let day = InstantText(language: .english).day(noon)
            for (hours, isDated) in [(0, false), (48, false), (49, true)] as [(Int64, Bool)] {
                server.clock.now = noon.plus(seconds: hours * 3600)
                // Whoever came in before may be out by now.
                let cookie = try await server.entered(OwnWorld.alice)
                for (path, language, words) in [
                    ("/paywall/export", "en", "As the store said on \(day)"),
                    ("/paywall/export", "ja", "時点のストアの価格"),
                    ("/paywall/export?lang=zh-Hant", "en", "提供的價格"),
                ] {
                    let page = try await server.page(path, cookie: cookie, language: language)
                    #expect(page.body.contains(words) == isDated, "\(hours) h: \(words)")
                }
            }
            // What its store never said has no age.
            let cookie = try await server.entered(OwnWorld.alice)
            let elsewhere = try await server.page("/paywall?storefront=FR", cookie: cookie)
            #expect(!elsewhere.body.contains("As the store said"))
        }
    }

    // rows 5.3, 4.5: a trial is for whom it is, and what one has is not sold again
    @Test func `says what the customer has already`() async throws {
        try await Self.with { server, cookie in
            try await server.hand(in: OwnWorld.month(1, of: OwnWorld.alice))
            let feature = try await server.page("/paywall/export", cookie: cookie)
            #expect(feature.body.contains("You have Pro Monthly until"))
            #expect(!feature.body.contains("entitle://purchase"))
            let large = try await server.page("/paywall?storefront=US", cookie: cookie)
            #expect(large.body.contains("You have Pro Monthly until"))
            #expect(!large.body.contains("product=pro.month"))
            #expect(large.body.contains("product=pro.year"))
            #expect(large.body.contains("product=coffee") && !large.body.contains("free trial"))
        }
    }

    // row B7: each of many customers sees the order of their variant, and the same one again
    @Test func `is as the customer's variant has it`() async throws {
        try await Self.with { server, _ in
            _ = try await server.post(
                "/v1/catalog",
                OwnWorld.catalog(OwnWorld.experiment),
                as: .admin
            )
            var orders: [String: Int] = [:]
            for number in 0..<12 {
                let cookie = try await server.entered("visitor-\(number)")
                let page = try await server.page("/paywall.json", cookie: cookie)
                let products = page.json["products"]?.array?.compactMap { $0["productId"]?.string }
                let again = try await server.page("/paywall.json", cookie: cookie)
                #expect(again.json["products"] == page.json["products"])
                orders[(products ?? []).joined(separator: " "), default: 0] += 1
            }
            #expect(Set(orders.keys) == ["pro.month pro.year bingo coffee", "coffee pro.month"])
        }
    }

    // row 2.4, row 2.5, row 2.6, row 5.5: what the script shows stands in the page
    @Test func `holds every message that may follow`() async throws {
        try await Self.with { server, cookie in
            let page = try await server.page("/paywall", cookie: cookie, language: "ja")
            for name in ["working", "success", "pending", "nothing"] {
                #expect(page.body.contains("data-result=\"\(name)\""))
            }
            for code in ["CANCELLED", "NETWORK_ERROR", "STORE_PROBLEM_ERROR", "UNKNOWN_ERROR"] {
                #expect(page.body.contains("data-code=\"\(code)\""))
            }
            #expect(page.body.contains("処理中…"))
        }
    }

    @Test func `is not there for a feature that is none`() async throws {
        try await Self.with { server, cookie in
            let answer = try await server.page("/paywall/nothing", cookie: cookie)
            #expect(answer.status == 404)
        }
    }
}
