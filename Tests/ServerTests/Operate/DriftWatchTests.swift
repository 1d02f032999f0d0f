import Encodings
import Entitlements
import EventLog
import Testing

@testable import EntitlementLedger
@testable import LedgerServer

/// The server's own look at its live views (row Z13).
struct `A drift watch` {
    private static func watch(_ server: TestServer, sample: Int = 1) -> DriftWatch {
        DriftWatch(
            service: server.service,
            schedule: LedgerServer.DriftSchedule(interval: .seconds(1), sample: sample)
        )
    }

    private static func value(
        _ server: TestServer,
        _ name: String,
        _ labels: [String: String]
    ) async throws -> Double? {
        let answer = try await server.get("/metrics")
        return try PrometheusReader(answer.body).families.flatMap(\.samples)
            .first { $0.name == name && $0.labels == labels }?.value
    }

    private static func fill(_ server: TestServer, customers: Int) async throws {
        try server.publishCatalog()
        for number in 0..<customers {
            let path = "/v1/customers/drifting-\(number)"
            let granted = try await server.post(path + "/grants", #"{"tier":"pro"}"#)
            #expect(granted.status == 200)
            // Its features are kept from here on.
            #expect(try await server.get(path + "/features/export").status == 200)
        }
    }

    @Test func `rolls on through all customers and finds nothing`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server, customers: 5)
            var start: UInt64 = 0
            for _ in 0..<5 { start = try #require(await Self.watch(server).check(from: start)) }
            #expect(start == 0)
            let checks = "entitle_drift_checks_total"
            #expect(try await Self.value(server, checks, ["outcome": "agreed"]) == 5)
            #expect(try await Self.value(server, checks, ["outcome": "differed"]) == 0)
            #expect(try await Self.value(server, "entitle_drift_customers_total", [:]) == 5)
            #expect(!server.log.all.contains { $0.contains("otherwise") })
        }
    }

    // law 6: that the line names nobody is held at the end of each test.
    @Test func `tells of an answer that is another, and of nobody`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server, customers: 3)
            let cache = server.ledger.questions.accessCache
            let hash = cache.hash(of: "drifting-1", .production)
            #expect(cache[hash] != nil)
            cache.keep(
                CachedAccess(
                    usable: [],
                    features: [:],
                    from: server.clock.now,
                    validUntil: nil,
                    size: server.ledger.questions.views.end,
                    streams: []
                ),
                of: hash,
                since: cache.epoch
            )
            _ = await Self.watch(server, sample: 10).check(from: 0)
            let line = try #require(server.log.all.first { $0.contains("otherwise than the log") })
            #expect(line.contains(#""level":"error""#) && line.contains(#""differences":"1""#))
            let checks = "entitle_drift_checks_total"
            #expect(try await Self.value(server, checks, ["outcome": "differed"]) == 1)
            let differences = "entitle_drift_differences_total"
            #expect(try await Self.value(server, differences, ["view": "standing"]) == 1)
        }
    }

    @Test func `goes on after a disk that does not answer`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server, customers: 2)
            server.storage.scanFault = .init(.unreadable, "a fault that a test made")
            #expect(await Self.watch(server).check(from: 0) == nil)
            server.storage.scanFault = nil
            #expect(await Self.watch(server).check(from: 0) != nil)
            let checks = "entitle_drift_checks_total"
            #expect(try await Self.value(server, checks, ["outcome": "failed"]) == 1)
        }
    }
}
