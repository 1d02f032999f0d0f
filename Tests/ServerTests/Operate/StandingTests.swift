import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import Testing

@testable import LedgerServer

/// The figures of readiness, files and process at `/metrics`.
struct `Standing figures` {
    private static func value(
        _ server: TestServer,
        _ name: String,
        _ labels: [String: String] = [:]
    ) async throws -> Double? {
        let answer = try await server.get("/metrics", as: .metrics)
        #expect(answer.status == 200)
        return try PrometheusReader(answer.body).families.flatMap(\.samples)
            .first { $0.name == name && $0.labels == labels }?.value
    }

    // row 8.2: whoever watches sees what /readyz says, without asking it.
    @Test func `say what keeps the ledger from its work`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            #expect(try await Self.value(server, "entitle_ready") == 1)
            for reason in ["storage", "read_only", "recovering", "vault", "audit"] {
                let labels = ["reason": reason]
                #expect(try await Self.value(server, "entitle_not_ready", labels) == 0)
            }
            server.storage.fault = .init(.full, "a fault that a test made")
            _ = try await server.post("/v1/customers/wanda-1/grants", #"{"tier":"pro"}"#)
            #expect(try await Self.value(server, "entitle_ready") == 0)
            let labels = ["reason": "read_only"]
            #expect(try await Self.value(server, "entitle_not_ready", labels) == 1)
            server.storage.fault = nil
        }
    }

    @Test func `tell when a store told something that holds`() async throws {
        try await TestServer.with(AppStoreWorld.setup()) { server in
            let name = "entitle_last_signal_seconds"
            let store = ["store": "app_store"]
            let refused = try AppStoreWorld.body(
                RefusedSignal.content[0].make(AppStoreWorld.store())
            )
            _ = try await server.send(.post, "/v1/signals/app-store", body: refused)
            #expect(try await Self.value(server, name, store) == nil, "what is refused is none")
            let now = server.clock.now.wholeSeconds
            server.service.metrics.countSignal("app_store", outcome: "duplicate")
            #expect(try await Self.value(server, name, store) == Double(now))
            // What the log tells of earlier ones is no step back.
            server.service.metrics.stores.note(["app_store": Instant(milliseconds: 5000)])
            #expect(try await Self.value(server, name, store) == Double(now))
            server.service.metrics.stores.note(["play_store": Instant(milliseconds: 5000)])
            #expect(try await Self.value(server, name, ["store": "play_store"]) == 5)
        }
    }

    // The log of an earlier server tells how long a store has been silent.
    @Test func `are recalled from the log when the server begins`() async throws {
        try await TestServer.with { server in
            let line = #"""
                {"specversion":"1.0","id":"r1","source":"app_store","type":"signal.noted",                "subject":"store/app_store","time":"2026-01-01T00:00:00Z","data":{"name":"test"}}
                """#.replacing("\\\n", with: "")
            let event = try Event(validating: .init(parsing: Array(line.utf8)))
            _ = try server.ledger.appender.record([Submission(event: event)])
            let watch = StoreWatch(service: server.service, interval: .seconds(1))
            await watch.recall()
            let store = ["store": "app_store"]
            let told = try await Self.value(server, "entitle_last_signal_seconds", store)
            #expect(told == Double(server.clock.now.wholeSeconds))
        }
    }

    @Test func `have the standard names of a process`() async throws {
        try await TestServer.with { server in
            let answer = try await server.get("/metrics", as: .metrics)
            for name in [
                "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
                "process_start_time_seconds",
            ] {
                #expect(answer.body.contains("\n" + name + " "))
            }
        }
    }
}
