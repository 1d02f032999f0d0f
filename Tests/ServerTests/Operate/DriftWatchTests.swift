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

    private static func fill(
        _ server: TestServer,
        customers: Int,
        in environment: StoreEnvironment = .production
    ) async throws {
        try server.publishCatalog()
        let query = "?environment=" + environment.name
        for number in 0..<customers {
            let path = "/v1/customers/drifting-\(number)"
            let granted = try await server.post(path + "/grants" + query, #"{"tier":"pro"}"#)
            #expect(granted.status == 200)
            // Its features are kept from here on.
            #expect(try await server.get(path + "/features/export" + query).status == 200)
        }
    }

    /// Keeps another answer than the log's.
    private static func spoil(_ server: TestServer, _ environment: StoreEnvironment) {
        let cache = server.ledger.questions.accessCache
        let hash = cache.hash(of: "drifting-1", environment)
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
    }

    @Test func `rolls on through all customers and finds nothing`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server, customers: 5)
            var place = DriftWatch.Place()
            for _ in 0..<5 { place = try #require(await Self.watch(server).check(from: place)) }
            #expect(place == DriftWatch.Place(environment: .sandbox))
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
            Self.spoil(server, .production)
            _ = await Self.watch(server, sample: 10).check(from: DriftWatch.Place())
            let line = try #require(server.log.all.first { $0.contains("otherwise than the log") })
            #expect(line.contains(#""level":"error""#) && line.contains(#""differences":"1""#))
            let checks = "entitle_drift_checks_total"
            #expect(try await Self.value(server, checks, ["outcome": "differed"]) == 1)
            let differences = "entitle_drift_differences_total"
            #expect(try await Self.value(server, differences, ["view": "standing"]) == 1)
        }
    }

    // What a sandbox's customers are told is kept like anybody's.
    @Test(arguments: [StoreEnvironment.sandbox, .local])
    func `takes the environments in turn, and passes over those without customers`(
        _ environment: StoreEnvironment
    ) async throws {
        try await TestServer.with { server in
            try await Self.fill(server, customers: 2)
            try await Self.fill(server, customers: 2, in: environment)
            Self.spoil(server, environment)
            let watch = Self.watch(server, sample: 10)
            let checks = "entitle_drift_checks_total"
            let next = try #require(await watch.check(from: DriftWatch.Place()))
            #expect(try await Self.value(server, checks, ["outcome": "differed"]) == 0)
            let last = try #require(await watch.check(from: next))
            #expect(try await Self.value(server, checks, ["outcome": "differed"]) == 1)
            let line = server.log.all.first { $0.contains("otherwise than the log") }
            #expect(line?.contains(#""environment":"\#(environment.name)""#) == true)
            // Then it is the first one's turn again.
            _ = try #require(await watch.check(from: last))
            #expect(try await Self.value(server, checks, ["outcome": "agreed"]) == 2)
        }
    }

    @Test func `goes on after a disk that does not answer`() async throws {
        try await TestServer.with { server in
            try await Self.fill(server, customers: 2)
            server.storage.scanFault = .init(.unreadable, "a fault that a test made")
            #expect(await Self.watch(server).check(from: DriftWatch.Place()) == nil)
            server.storage.scanFault = nil
            #expect(await Self.watch(server).check(from: DriftWatch.Place()) != nil)
            let checks = "entitle_drift_checks_total"
            #expect(try await Self.value(server, checks, ["outcome": "failed"]) == 1)
        }
    }
}
