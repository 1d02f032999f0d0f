import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import Synchronization
import Testing

@testable import LedgerServer

/// Row 8.5: every error is logged with its time.
struct `An error` {
    private static func line(_ server: TestServer, _ message: String) throws -> JSONValue {
        let line = try #require(server.log.all.last { $0.contains(message) })
        return try JSONValue(parsing: Array(line.utf8))
    }

    // row 8.5
    @Test func `of the server stands in its log with its time, code and request`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            server.storage.fault = LogStorageFault(.unreadable, "planted")
            let answer = try await server.post(
                "/v1/customers/alice-1/grants",
                #"{"tier":"pro"}"#
            )
            #expect(answer.status == 500)
            let fault = try Self.line(server, "\"fault\"")
            #expect(fault["level"]?.string == "error")
            #expect(fault["code"]?.string == answer.code)
            #expect(fault["time"]?.string.flatMap { Instant(rfc3339: $0) } != nil)
            #expect(fault["requestId"]?.string == answer.headers[.requestID])
        }
    }

    // row 8.5: a refusal too, at the level of requests
    @Test(arguments: [
        ("/v1/customers/alice-1/explain", "missing_field"),
        ("/v1/customers/alice-1/export", "unknown_customer"), ("/nowhere", "not_found"),
    ])
    func `of a request stands in the log with its time and code`(
        _ path: String,
        _ code: String
    ) async throws {
        try await TestServer.with { server in
            let answer = try await server.get(path, as: .support)
            #expect(answer.code == code)
            let line = try Self.line(server, "\"request\"")
            #expect(line["code"]?.string == code)
            #expect(line["time"]?.string.flatMap { Instant(rfc3339: $0) } != nil)
            // The control: what succeeds has no code.
            _ = try await server.get("/healthz")
            #expect(try Self.line(server, "\"request\"")["code"]?.string == "")
        }
    }

    // row 8.5: one that comes when the head of the answer is out already
    @Test func `that breaks an answer on its way is told of, and ends it`() async throws {
        let told = Mutex<[String]>([])
        var answer = Answer(mediaType: "text/csv") {
            throw LogStorageFault(.damaged, "planted")
        }
        answer.whenBroken { error in told.withLock { $0.append("\(type(of: error))") } }
        let pieces = try #require(answer.pieces)
        await #expect(throws: LogStorageFault.self) { _ = try await pieces() }
        #expect(told.withLock { $0 } == ["LogStorageFault"])
        // The control: what goes out whole is not told of.
        var whole = Answer(mediaType: "text/csv") { nil }
        whole.whenBroken { _ in told.withLock { $0.append("-") } }
        #expect(try await whole.pieces?() == nil)
        #expect(told.withLock { $0.count } == 1)
    }

    // row 8.5: what an app tells of is an event, with the time at which it came to pass
    @Test func `of an app is an event with both of its times`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let answer = try await server.post(
                "/v1/customers/alice-1/flows",
                #"{"type":"failed","flowId":"f1","errorCode":"NETWORK_ERROR"}"#
            )
            #expect(answer.status == 200, "\(answer.body)")
            var filter = EventFilter(sequences: 0 ..< .max)
            filter.kind = .flowFailed
            var events: [JSONValue] = []
            try server.ledger.questions.events(filter) { _, event in
                events.append(event)
                return true
            }
            #expect(events.count == 1)
            #expect(events[0]["time"] == .instant(server.clock.now))
            #expect(events[0]["recordedtime"] == .instant(server.clock.now))
            #expect(events[0]["data"]?["errorCode"]?.string == "NETWORK_ERROR")
        }
    }
}
