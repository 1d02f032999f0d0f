import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Testing

@testable import LedgerServer

/// The figures of reports in `/metrics` (row 10.6).
struct `A look at reports` {
    private static func line(
        _ id: String,
        _ type: String,
        _ subject: String,
        _ data: String
    ) -> String {
        """
        {"specversion":"1.0","id":"\(id)","source":"app","type":"\(type)","subject":"\(subject)",\
        "time":"\(noon)","data":{\(data)}}
        """
    }

    private static func record(_ lines: [String], _ server: TestServer) throws {
        _ = try server.ledger.appender.record(
            lines.map {
                Submission(event: try Event(validating: JSONValue(parsing: Array($0.utf8))))
            }
        )
    }

    private static func samples(_ server: TestServer) async throws -> [String: Double] {
        let page = try PrometheusReader(try await server.get("/metrics").body)
        var found: [String: Double] = [:]
        for sample in page.families.flatMap(\.samples) {
            let labels = sample.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            found[([sample.name] + labels).joined(separator: " ")] = sample.value
        }
        return found
    }

    @Test func `shows what they say, and nobody's name`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            try Self.record(
                [
                    Self.line(
                        "1",
                        "purchase.completed",
                        "purchase/app_store/secret-purchase",
                        #"""
                        "transactionId":"t1","productId":"pro.month","productKind":"consumable",\#
                        "priceMicros":4990000,"currencyCode":"EUR","account":"secret-customer"
                        """#
                    ),
                    Self.line(
                        "2",
                        "verification.passed",
                        "purchase/app_store/secret-purchase",
                        #""method":"manual""#
                    ),
                    Self.line(
                        "3",
                        "flow.failed",
                        "customer/secret-customer",
                        #""flowId":"f","errorCode":"NETWORK_ERROR","stages":{"store":12}"#
                    ),
                ],
                server
            )
            let before = try await Self.samples(server)
            #expect(before["entitle_customers tier=free"] == nil, "no look, no figures")
            let watch = ReportWatch(service: server.service, interval: .seconds(1))
            #expect(await watch.run() == .done)
            let samples = try await Self.samples(server)
            #expect(samples["entitle_customers tier=free"] == 1)
            #expect(samples["entitle_owned_purchases status=active"] == 1)
            #expect(samples["entitle_revenue_micros currency=EUR money=taken"] == 4_990_000)
            #expect(samples["entitle_revenue_micros currency=EUR money=refunded"] == 0)
            #expect(samples["entitle_flows end=failed"] == 1)
            #expect(samples["entitle_flows end=open"] == 0)
            #expect(samples["entitle_stage_seconds percentile=95 stage=store"] == 0.012)
            #expect(samples["entitle_reported_errors code=NETWORK_ERROR origin=flow"] == 1)
            #expect(samples["entitle_error_alerts"] == 0)
            #expect(!samples.keys.contains { $0.contains("secret") })
        }
    }

    // What an app makes up is no label without a limit.
    @Test func `puts the codes together that are not among the most frequent`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let limit = ReportGauges.nameLimit
            let lines = (0..<limit + 5).flatMap { code in
                (0...(code < limit ? 1 : 0)).map { time in
                    Self.line(
                        "\(code)-\(time)",
                        "flow.failed",
                        "customer/c",
                        #""flowId":"f\#(code)-\#(time)","errorCode":"E\#(code)""#
                    )
                }
            }
            try Self.record(lines, server)
            await ReportWatch(service: server.service, interval: .seconds(1)).look()
            let shown = try await Self.samples(server)
                .filter { $0.key.hasPrefix("entitle_reported_errors") }
            #expect(shown.count == limit + 1)
            let others = "entitle_reported_errors code=\(ReportGauges.others) origin=flow"
            #expect(shown[others] == 5)
            #expect(shown.values.reduce(0, +) == Double(2 * limit + 5))
        }
    }
}
