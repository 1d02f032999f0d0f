import EntitlementLedger
import ServiceLifecycle
import Testing

@testable import LedgerServer

/// What goes on for long when the server is told to stop.
struct `A server that ends` {
    @Test(arguments: [
        "/v1/reports/customers", "/v1/reports/revenue", "/v1/drift?all=true",
        "/v1/audit?scope=hashes", "/v1/audit?scope=quick", "/v1/audit?scope=everything",
    ])
    func `waits for no walk over the log`(_ path: String) async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            for number in 0..<3 {
                let grants = "/v1/customers/ending-\(number)/grants"
                _ = try await server.post(grants, #"{"tier":"pro"}"#)
            }
            #expect(try await server.get(path, as: .audit).status == 200, "the control")
            server.service.end()
            // An audit is of all environments, and keeps nothing that it would answer from.
            let other =
                path.contains("audit")
                ? "" : (path.contains("?") ? "&" : "?") + "environment=sandbox"
            let answer = try await server.get(path + other, as: .audit)
            #expect(answer.status == 503 && answer.code == "busy")
            server.ledger.allowWalks()
            #expect(try await server.get(path, as: .audit).status == 200)
            let metrics = try await server.get("/metrics").body
            for outcome in ["failed", "damaged"] {
                for scope in AuditScope.allCases {
                    let sample =
                        "entitle_audits_total{scope=\"\(scope)\",outcome=\"\(outcome)\"} 0"
                    #expect(metrics.contains(sample))
                }
            }
        }
    }

    @Test func `waits for no audit, and counts none as failed`() async throws {
        var setup = TestServer.Setup()
        setup.audit = { _, _, isEnded in
            while !isEnded() {}
            throw CancellationError()
        }
        try await TestServer.with(setup) { server in
            let watch = AuditWatch(
                service: server.service,
                scope: .everything,
                interval: .seconds(60)
            )
            async let run = watch.run()
            server.service.end()
            #expect(await run == .ended)
            let metrics = try await server.get("/metrics").body
            #expect(
                metrics.contains(
                    #"entitle_audits_total{scope="everything",outcome="failed"} 0"#
                )
            )
        }
    }

    /// Tells that the services beside it have begun.
    private struct Beginning: Service {
        let begun: AsyncStream<Void>.Continuation

        func run() async throws {
            begun.yield()
            try await gracefulShutdown()
        }
    }

    // A server that only reads may have none: one that ended would take all others with it.
    @Test func `goes on without jobs until it is told to end`() async throws {
        try await TestServer.with { server in
            let (beginnings, begun) = AsyncStream.makeStream(of: Void.self)
            let scheduler = JobScheduler(jobs: [], board: server.service.jobs)
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(
                    services: [scheduler, Beginning(begun: begun)],
                    logger: server.options.logger
                )
            )
            async let running: Void = group.run()
            _ = await beginnings.first { _ in true }
            // One that does not wait has ended by then.
            try await Task.sleep(for: .milliseconds(250))
            await group.triggerGracefulShutdown()
            try await running
        }
    }

    // A stream has no end of its own, and what it follows goes on until it has ended.
    @Test(.timeLimit(.minutes(60)))
    func `says good-bye to whoever follows the log, and waits for none of them`() async throws {
        try await TestServer.with { server in
            try server.publishCatalog()
            let key = try #require(server.keys[.admin])
            var options = server.options
            options.port = 0
            let (addresses, told) = AsyncStream.makeStream(of: String.self)
            let services = try LedgerServer.services(options, server.service) { listening in
                told.yield(listening.address)
            }
            let group = ServiceGroup(
                configuration: ServiceGroupConfiguration(services: services, logger: options.logger)
            )
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                let address = await addresses.first { _ in true }
                let port = try #require(address?.split(separator: ":").last.flatMap { Int($0) })
                let reader = try await RawConnection(to: options.host, port)
                reader.write(
                    "GET /v1/events/stream HTTP/1.1\r\nHost: localhost\r\n"
                        + "Authorization: Bearer \(key)\r\n\r\n"
                )
                try await reader.wait(for: "retry: 2000")
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
                try await reader.wait(for: "\r\n0\r\n\r\n")
                #expect(reader.text.contains("event: bye\ndata:\n\n"))
                #expect(reader.text.hasSuffix("\r\n0\r\n\r\n"), "it ends whole")
            }
        }
    }
}
