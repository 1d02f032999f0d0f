import Encodings
import EntitlementLedger
import Entitlements
import Testing

@testable import LedgerServer

/// The server's own look for what stores have not told (Z12).
struct `A store watch` {
    private static func renewing(_ number: Int, until end: Instant) -> [String] {
        let start = end.advanced(byMilliseconds: -Instant.millisecondsPerDay)
        func line(_ type: String, _ data: String) -> String {
            """
            {"specversion":"1.0","id":"\(type)-\(number)","source":"app_store","type":"\(type)",\
            "subject":"purchase/app_store/\(number)","time":"\(start)","data":{\(data)}}
            """
        }
        return [
            line(
                "purchase.completed",
                """
                "transactionId":"t\(number)","productId":"pro.month",\
                "productKind":"auto_renewable","expiresAt":"\(end)","account":"renewing-\(number)"
                """
            ),
            line("verification.passed", #""method":"app_store_jws""#),
        ]
    }

    private static func told(_ server: TestServer) -> Bool {
        server.log.all.contains { $0.contains("renewals do not come") }
    }

    @Test func `tells where renewals do not come, and counts them`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let watch = StoreWatch(service: server.service, interval: .seconds(1))
            func record(_ numbers: Range<Int>, until end: Instant) throws {
                let events = try numbers.flatMap { Self.renewing($0, until: end) }.map { line in
                    Submission(
                        event: try Event(validating: JSONValue(parsing: Array(line.utf8)))
                    )
                }
                _ = try server.ledger.appender.record(events)
            }
            try record(0..<90, until: noon.advanced(byMilliseconds: Instant.millisecondsPerDay))
            try record(90..<94, until: noon.advanced(byMilliseconds: -Instant.millisecondsPerDay))
            await watch.look()
            #expect(!Self.told(server), "four of ninety-four")
            try record(94..<96, until: noon.advanced(byMilliseconds: -Instant.millisecondsPerDay))
            await watch.look()
            #expect(Self.told(server))
            let answer = try await server.get("/metrics")
            let samples = try PrometheusReader(answer.body).families.flatMap(\.samples)
            func value(_ state: String) -> Double? {
                samples.first {
                    $0.name == "entitle_store_purchases"
                        && $0.labels == ["store": "app_store", "state": state]
                }?.value
            }
            #expect(value("renewing") == 96 && value("renewal_expected") == 6)
            // Each gets its turn, around the end.
            var (start, named) = (UInt64(0), [PurchaseName]())
            for _ in 0..<3 {
                let doubts = try server.ledger.questions.purchaseDoubts(
                    in: .production,
                    at: noon,
                    from: start,
                    limit: 4
                )
                named += doubts.purchases
                start = doubts.next
            }
            #expect(named.count == 12 && Set(named).count == 6)
        }
    }

    // Stores, rule 3
    @Test func `tells of what Google will take back, as long as its three days last`() async throws
    {
        try await TestServer.with { server in
            try server.publishCatalog()
            let watch = StoreWatch(service: server.service, interval: .seconds(1))
            func record(_ purchase: String, daysAgo: Int64, _ types: [String]) throws {
                let time = noon.advanced(byMilliseconds: -daysAgo * Instant.millisecondsPerDay)
                let data: [String: String] = [
                    "purchase.completed": """
                    "transactionId":"GPA.1","productId":"pro.life",\
                    "productKind":"non_consumable","account":"ann"
                    """,
                    "verification.passed": #""method":"play_signature""#,
                    "purchase.acknowledged": #""transactionId":"GPA.1""#,
                ]
                let lines = types.map { type in
                    """
                    {"specversion":"1.0","id":"\(purchase)-\(type)","source":"play_store",\
                    "type":"\(type)","subject":"purchase/play_store/\(purchase)",\
                    "time":"\(time)","data":{\(data[type] ?? "")}}
                    """
                }
                let events = try lines.map { line in
                    Submission(
                        event: try Event(validating: JSONValue(parsing: Array(line.utf8)))
                    )
                }
                _ = try server.ledger.appender.record(events)
            }
            func unacknowledged() async throws -> (told: Bool, count: Double?) {
                await watch.look()
                let answer = try await server.get("/metrics")
                let sample = try PrometheusReader(answer.body).families.flatMap(\.samples).first {
                    $0.labels == ["store": "play_store", "state": "unacknowledged"]
                }
                let told = server.log.all.contains { $0.contains("were not acknowledged") }
                return (told, sample?.value)
            }
            let bought = ["purchase.completed", "verification.passed"]
            try record("old", daysAgo: 4, bought)
            try record("done", daysAgo: 1, bought + ["purchase.acknowledged"])
            #expect(try await unacknowledged() == (false, 0))
            try record("new", daysAgo: 1, bought)
            #expect(try await unacknowledged() == (true, 1))
        }
    }
}
