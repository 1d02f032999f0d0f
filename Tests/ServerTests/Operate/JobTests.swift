import Encodings
import Entitlements
import EventLog
import LedgerAPI
import Testing

@testable import EntitlementLedger
@testable import LedgerServer

/// What the server does by itself, as it says so.
struct `A job` {
    private static func job(_ name: String, _ server: TestServer) async throws -> JSONValue? {
        let answer = try await server.get("/v1/status")
        #expect(answer.status == 200, "\(answer.body)")
        return (answer.json["jobs"]?.array ?? []).first { $0["name"]?.string == name }
    }

    /// Waits for a job to have ended in a way.
    private static func wait(
        for name: String,
        _ result: String,
        _ server: TestServer
    ) async throws -> JSONValue {
        while true {
            if let job = try await job(name, server), job["result"]?.string == result {
                return job
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `says when it ran, how that ended, and when it comes again`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            #expect(try await Self.job("drift", server) == nil)
            let schedule = LedgerServer.DriftSchedule(interval: .milliseconds(30), sample: 1)
            let watch = Task {
                try await DriftWatch(service: server.service, schedule: schedule).run()
            }
            defer { watch.cancel() }
            let ran = try await Self.wait(for: "drift", "done", server)
            let now = server.clock.now
            #expect(ran["lastRunAt"]?.string == "\(now)" && ran["lastDoneAt"]?.string == "\(now)")
            let next = now.advanced(byMilliseconds: 30)
            #expect(ran["nextRunAt"]?.string == "\(next)")
            // What it cannot do is said, beside when it last could.
            server.clock.now = now.advanced(byMilliseconds: 60_000)
            server.storage.endFault = .init(.unreadable, "a fault that a test made")
            while server.service.jobs.all.first?.result != .failed {
                try await Task.sleep(for: .milliseconds(20))
            }
            server.storage.endFault = nil
            let mended = try await Self.wait(for: "drift", "done", server)
            #expect(mended["lastDoneAt"]?.string == "\(server.clock.now)")
        }
    }

    @Test func `is counted for an alert`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            server.service.jobs.end(.checkpoint, isDone: true)
            server.service.jobs.end(.stores, isDone: true)
            server.clock.now = server.clock.now.advanced(byMilliseconds: 5000)
            server.service.jobs.end(.stores, isDone: false)
            let page = try PrometheusReader(try await server.get("/metrics").body)
            func value(_ name: String, _ job: String) -> Double? {
                page.families.flatMap(\.samples)
                    .first { $0.name == name && $0.labels == ["name": job] }?.value
            }
            #expect(value("entitle_job_failed", "checkpoint") == 0)
            #expect(value("entitle_job_failed", "stores") == 1)
            #expect(value("entitle_job_failed", "drift") == nil)
            let done = Double(server.clock.now.milliseconds / 1000 - 5)
            #expect(value("entitle_job_last_done_seconds", "stores") == done)
        }
    }

    // Each of them notes its runs: none is forgotten.
    @Test func `is every one that the server has`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let service = server.service
            _ = await AuditWatch(service: service, scope: .quick, interval: .seconds(1)).check()
            _ = await AuditWatch(service: service, scope: .everything, interval: .seconds(1))
                .check()
            await LogPublisher(
                service: service,
                schedule: LedgerServer.PublicationSchedule()
            ).publish()
            await StoreWatch(service: service, interval: .seconds(1)).look()
            await ReportWatch(service: service, interval: .seconds(1)).look()
            let names = service.jobs.all.filter { $0.result == .done }.map(\.name)
            #expect(names == ["audit", "audit_everything", "checkpoint", "reports", "stores"])
        }
    }
}
