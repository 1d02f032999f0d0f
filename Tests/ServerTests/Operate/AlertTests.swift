import Encodings
import Entitlements
import LedgerAPI
import LedgerOperations
import Testing

@testable import EntitlementLedger
@testable import LedgerServer

/// What is the matter, as it is told (rows 10.4, 10.5).
struct `An alert` {
    /// Records flows whose stages take so long, an hour before the server's time.
    private static func record(
        flow number: Int,
        takes milliseconds: Int,
        _ server: TestServer
    ) throws {
        let time = server.clock.now.advanced(byMilliseconds: -3_600_000)
        let line = """
            {"specversion":"1.0","id":"slow-\(number)","source":"app","type":"flow.succeeded",\
            "subject":"customer/secret-\(number)","time":"\(time)",\
            "data":{"flowId":"f\(number)","stages":{"store":\(milliseconds)}}}
            """
        let event = try Event(validating: JSONValue(parsing: Array(line.utf8)))
        _ = try server.ledger.appender.record([Submission(event: event)])
    }

    private static func alerts(_ server: TestServer) async throws -> [JSONValue] {
        let status = try await server.get("/v1/status")
        #expect(status.status == 200, "\(status.body)")
        return status.json["alerts"]?.array ?? []
    }

    private static func told(_ server: TestServer, _ words: String) -> Int {
        server.log.all.count { $0.contains(words) }
    }

    @Test(.timeLimit(.minutes(60)))
    func `is told once when it begins and once when it is over, to whoever asks for it`()
        async throws
    {
        try await WebhookReceiver.with { receiver, url in
            try await WebhookReceiver.with { others, elsewhere in
                try await WebhookWorld.with { server in
                    for (url, types) in [(url, #"["ledger.alert"]"#), (elsewhere, "[]")] {
                        let added = try await server.post(
                            "/v1/webhooks",
                            #"{"url":"\#(url)","types":\#(types)}"#,
                            as: .admin
                        )
                        #expect(added.status == 201, "\(added.body)")
                    }
                    let watch = ReportWatch(service: server.service, interval: .seconds(600))
                    // The control: nothing is slow.
                    try Self.record(flow: 0, takes: 100, server)
                    #expect(await watch.look() == .done)
                    #expect(try await Self.alerts(server).isEmpty)
                    for number in 1...20 {
                        try Self.record(flow: number, takes: 60_000, server)
                    }
                    let began = server.clock.now
                    for _ in 0..<3 { #expect(await watch.look() == .done) }
                    let alerts = try await Self.alerts(server)
                    #expect(alerts.count == 1 && alerts[0]["since"]?.string == "\(began)")
                    let metrics = try await server.get("/metrics").body
                    #expect(metrics.contains(#"entitle_alerts{alert="stage_slow"} 1"#))
                    #expect(metrics.contains(#"entitle_alerts{alert="error_rate"} 0"#))
                    #expect(Self.told(server, "a stage of purchase flows takes 60000 ms") == 1)
                    let raised = try #require(try await receiver.messages(count: 1).first)
                    // Days later nobody buys that slowly.
                    server.clock.now = began.advanced(
                        byMilliseconds: 3 * Instant.millisecondsPerDay
                    )
                    try Self.record(flow: 30, takes: 100, server)
                    for _ in 0..<2 { #expect(await watch.look() == .done) }
                    #expect(try await Self.alerts(server).isEmpty)
                    #expect(Self.told(server, "an alert is over") == 1)
                    let messages = try await receiver.messages(count: 2)
                    #expect(messages.count == 2 && messages[0].id == raised.id)
                    let events = try messages.map { try JSONValue(parsing: Array($0.body.utf8)) }
                    #expect(events.map { $0["type"]?.string } == ["ledger.alert", "ledger.alert"])
                    #expect(
                        events.map { $0["data"]?["state"]?.string } == ["raised", "ended"]
                    )
                    for event in events {
                        let data = event["data"]
                        #expect(data?["alert"]?.string == "stage_slow")
                        #expect(data?["about"]?.string == "store")
                        #expect(data?["since"]?.string == "\(began)")
                    }
                    #expect(!messages.contains { $0.body.contains("secret") })
                    #expect(others.messages.isEmpty)
                }
            }
        }
    }

    // row 10.4: one phone with a bad network is none, and what is slow is what is set
    @Test func `of a stage needs several slow flows, by the threshold that is set`() async throws {
        let thresholds = try #require(StageReport.Thresholds("store:900"))
        var setup = TestServer.Setup()
        setup.adjust = { $0.stageThresholds = thresholds }
        try await TestServer.with(setup) { server in
            let watch = ReportWatch(service: server.service, interval: .seconds(600))
            for number in 1...4 { try Self.record(flow: number, takes: 1000, server) }
            #expect(await watch.look() == .done)
            #expect(try await Self.alerts(server).isEmpty)
            try Self.record(flow: 5, takes: 1000, server)
            #expect(await watch.look() == .done)
            let about = try await Self.alerts(server).map { $0["about"]?.string }
            #expect(about == ["store"])
            #expect(Self.told(server, "the 900 it may: 5 of 5 took longer") == 1)
            // Whoever asks is told by the same, unless they say otherwise.
            for (query, threshold) in [("", 900), ("?thresholds=2000", 2000)] as [(String, Int64)] {
                let report = try await server.get("/v1/reports/stages" + query, as: .audit)
                let row = try #require(report.json["rows"]?.array?.first)
                #expect(row["threshold"] == .integer(threshold), "\(report.body)")
            }
        }
    }

    @Test func `is told by a server that begins again no second time`() async throws {
        try await WebhookWorld.with { server in
            let webhooks = try #require(server.service.webhooks)
            let logger = server.options.logger
            let alert = LedgerAlert(
                .sourceSilent,
                about: "app_store",
                in: .production,
                since: noon,
                "nothing comes of it"
            )
            let later = noon.advanced(byMilliseconds: 60_000)
            try AlertBoard(webhooks, logger).hold([alert], of: [.sourceSilent], at: noon)
            var found = alert
            found.since = later
            let again = AlertBoard(webhooks, logger)
            try again.hold([found], of: [.sourceSilent], at: later)
            #expect(try again.all().map(\.since) == [noon])
            #expect(Self.told(server, "nothing comes of it") == 1)
            // A look at something else ends nothing; one at it does, and then it may begin anew.
            try again.hold([], of: [.stageSlow], at: later)
            #expect(try again.all().count == 1)
            try again.hold([], of: [.sourceSilent], at: later)
            #expect(try again.all().isEmpty)
            try AlertBoard(webhooks, logger).hold([found], of: [.sourceSilent], at: later)
            #expect(Self.told(server, "nothing comes of it") == 2)
        }
    }
}
