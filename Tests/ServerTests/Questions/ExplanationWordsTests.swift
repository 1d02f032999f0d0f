import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import ModelSupport
import Testing

@testable import LedgerServer

/// How `explain` calls products and tells instants (rows Z2, 4.4).
struct `What explain says` {
    private static let purchase = Subject.purchase(
        PurchaseName(store: "app_store", originalID: "100")
    )
    /// 14:13:20 UTC on 1 July 2026.
    private static let bought = Instant(milliseconds: 1_782_915_200_000)

    private static let products = #"""
        [{"id":"monthly","kind":"auto_renewable","stores":{"app_store":["com.example.monthly"]},
          "unlocks":{"tier":"pro"},
          "texts":{"en":{"title":"Premium Monthly"},"ja":{"title":"プレミアム"},
                   "de":{"title":"Monatlich"},"fr":7,"es":{"title":"a\nb"}}},
         {"id":"yearly","kind":"auto_renewable","unlocks":{"tier":"pro"},
          "texts":{"de":{"title":"Jährlich"}}},
         {"id":"odd","kind":"auto_renewable","unlocks":{"tier":"pro"},"texts":["en"]}]
        """#

    /// A subscription of a product with titles.
    private static func record(in server: TestServer) throws {
        let document = """
            {"tiers":["free","pro"],"features":[{"id":"export","level":"pro"}],
             "products":\(products)}
            """
        _ = try server.ledger.appender.publish(
            try JSONValue(parsing: Array(document.utf8)),
            effective: bought,
            EntitlementLedger.Request(
                id: "catalog",
                source: Source.catalog,
                environment: .production
            )
        )
        let period = EventData(
            .purchaseCompleted,
            [
                .transactionID: .text("100"), .productID: .text("com.example.monthly"),
                .productKind: .text("auto_renewable"),
                .expiresAt: .instant(bought.plus(seconds: 30 * 86_400)),
            ]
        )
        let events: [(Subject, EventData)] = [
            (purchase, period),
            (purchase, EventData(.verificationPassed, [.method: .text("manual")])),
            (
                .customer("ann"),
                EventData(.customerClaimed, [.purchase: .text("app_store/100")])
            ),
        ]
        for (place, event) in events.enumerated() {
            let made = Event(
                id: "e\(place)",
                source: Source.support,
                subject: event.0,
                time: bought,
                data: event.1
            )
            _ = try server.ledger.appender.record(Submission(event: made))
        }
    }

    /// A world whose clocks are an hour and a half ahead until 15 July, then behind.
    private static let setup: TestServer.Setup = {
        var setup = TestServer.Setup()
        setup.adjust = { options in
            options.timeZone = { name in
                guard name == "Test/Town" else { return nil }
                let change = bought.plus(seconds: 14 * 86_400)
                return NamedZone(
                    name: name,
                    offsets: ResolvedZone(
                        initialOffsetSeconds: 5400,
                        transitions: [
                            ResolvedZone.Transition(at: change, offsetSeconds: -36_000)
                        ]
                    )
                )
            }
        }
        return setup
    }()

    private static func asked(_ query: String, _ server: TestServer) async throws -> TestAnswer {
        try await server.get(
            "/v1/customers/ann/explain?feature=export&at=\(bought.plus(seconds: 3600))&" + query,
            as: .support
        )
    }

    private static func texts(_ answer: TestAnswer) -> String {
        let parts = ["steps", "wouldChange", "notUsed"].flatMap { answer.json[$0]?.array ?? [] }
        return ([answer.json["summary"]] + parts.map { $0["text"] })
            .map { $0?.string ?? "" }.joined(separator: "\n")
    }

    @Test(arguments: [
        ("en", "the subscription app_store/100 of Premium Monthly (com.example.monthly)"),
        ("ja", "サブスクリプション app_store/100「プレミアム」（com.example.monthly）"),
        // What has no title in a language has its English one.
        ("zh-Hant", "訂閱 app_store/100「Premium Monthly」（com.example.monthly）"),
    ])
    func `calls a product by the catalog's title`(
        _ language: String,
        _ noun: String
    ) async throws {
        try await TestServer.with { server in
            try Self.record(in: server)
            let support = try await Self.asked("for=support&lang=" + language, server)
            #expect(support.status == 200)
            #expect(Self.texts(support).contains(noun))
            // Customers are told the title, and no id.
            let customer = Self.texts(
                try await Self.asked("for=customer&lang=" + language, server)
            )
            #expect(customer.contains(language == "ja" ? "「プレミアム」" : "Premium Monthly"))
            #expect(!customer.contains("com.example") && !customer.contains("app_store"))
            #expect(!customer.contains("{"))
        }
    }

    // A title in neither the language nor English helps nobody: the id does.
    @Test func `names what would open a gate by title and id`() async throws {
        try await TestServer.with { server in
            try Self.record(in: server)
            let before = try await server.get(
                "/v1/customers/nobody/explain?feature=export&for=support",
                as: .support
            )
            let text = Self.texts(before)
            #expect(text.contains("would open it: Premium Monthly (monthly), odd, yearly."))
            let change = before.json["wouldChange"]?.array?.first { $0["kind"] == "purchase" }
            #expect(change?["products"] == .array(["monthly", "odd", "yearly"]))
        }
    }

    @Test(arguments: [
        ("en", "1 Jul 2026, 15:43 UTC+01:30", "31 Jul 2026, 04:13 UTC-10:00"),
        ("ja", "2026年7月1日 15:43（UTC+01:30）", "2026年7月31日 04:13（UTC-10:00）"),
        (
            "zh-Hant", "2026 年 7 月 1 日 15:43（UTC+01:30）",
            "2026 年 7 月 31 日 04:13（UTC-10:00）"
        ),
    ])
    func `tells instants in the zone that is chosen`(
        _ language: String,
        _ start: String,
        _ end: String
    ) async throws {
        try await TestServer.with(Self.setup) { server in
            try Self.record(in: server)
            let query = "for=support&lang=" + language
            let local = try await Self.asked(query + "&zone=Test/Town", server)
            let utc = try await Self.asked(query, server)
            #expect(local.json["zone"] == "Test/Town" && utc.json["zone"] == "UTC")
            #expect(Self.texts(local).contains(start) && Self.texts(local).contains(end))
            #expect(!Self.texts(utc).contains("UTC+") && !Self.texts(utc).contains("UTC-"))
            // Members stay in UTC.
            let times = [local, utc].map { answer in
                (answer.json["steps"]?.array ?? []).map { [$0["time"], $0["effect"]] }
            }
            #expect(times[0] == times[1] && local.json["until"] == utc.json["until"])
        }
    }

    @Test func `refuses a zone that nobody knows`() async throws {
        try await TestServer.with(Self.setup) { server in
            try Self.record(in: server)
            let refused = try await Self.asked("zone=Test/Nowhere", server)
            #expect(refused.status == 400 && refused.code == "invalid_value")
            #expect(refused.body.contains("Europe/Berlin"))
        }
    }
}
