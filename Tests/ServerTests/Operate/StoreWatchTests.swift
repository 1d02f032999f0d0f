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
}
