import EntitlementLedger
import Entitlements
import HTTPTypes
import ModelSupport
import NIOCore
import Synchronization
import Testing

@testable import LedgerServer

/// The feed as Server-Sent Events.
struct `A stream of events` {
    /// The sequences of a text, as an `EventSource` reads it: each event has its id and one line of data.
    private static func sequences(_ text: String) -> [UInt64] {
        text.split(separator: "\n").compactMap { line in
            line.hasPrefix("id: ") ? UInt64(line.dropFirst(4)) : nil
        }
    }

    /// Follows the log while a body runs.
    private static func following(
        _ server: TestServer,
        _ body: () async throws -> Void
    ) async throws {
        let watch = Task { try await server.service.growth.run() }
        defer { watch.cancel() }
        try await body()
    }

    /// In the ledger itself: the client of the tests gives up where a busy machine takes long.
    private static func grant(
        _ server: TestServer,
        _ number: Int,
        because reason: String? = nil
    ) throws {
        let receipt = try server.ledger.appender.grant(
            "g-\(number)",
            to: "carol-1",
            features: [],
            tier: "pro",
            expiresAt: nil,
            reason: reason,
            EntitlementLedger.Request(id: "g-\(number)", source: "test", environment: .production)
        )
        guard case .appended = receipt else { throw NotGranted() }
    }

    private struct NotGranted: Error {}

    @Test func `begins where one says, and ends after so many events`() async throws {
        try await `The feed`.with { server in
            for (query, header, expected) in [
                ("after=3&limit=4", nil, [4, 5, 6, 7]), ("limit=2", "9", [10, 11]),
                // A browser that comes again asks by the same address.
                ("after=3&limit=1", "00000000000000000011", [12]),
                ("after=0&customer=alice-1&limit=2", nil, [1, 4]),
            ] as [(String, String?, [UInt64])] {
                var headers = HTTPFields()
                if let header { headers[.lastEventID] = header }
                let answer = try await server.send(
                    .get,
                    "/v1/events/stream?" + query,
                    credential: server.keys[.admin],
                    headers: headers
                )
                #expect(answer.status == 200)
                #expect(answer.headers[.contentType] == "text/event-stream")
                #expect(answer.headers[.cacheControl] == "no-store")
                #expect(answer.body.hasPrefix("retry: 2000\n\n"))
                #expect(Self.sequences(answer.body) == expected, "\(answer.body)")
            }
        }
    }

    // Resumes without a gap or a repeat, wherever it is cut, while events come in.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func `tells each event once, however often it is cut`(seed: UInt64) async throws {
        try await `The feed`.with { server in
            try await Self.following(server) {
                let total = 60
                let writes = Task {
                    for number in 0..<(total - 13) {
                        try Self.grant(server, number)
                        await Task.yield()
                    }
                }
                var generator = SplitMix64(seed: seed)
                var found: [UInt64] = []
                while found.count < total {
                    let filter = EventFilter(
                        sequences: (found.last.map { $0 + 1 } ?? 0)..<UInt64.max
                    )
                    let stream = EventStream(server.service, filter, for: .everything, limit: .max)
                    for _ in 0..<Int.random(in: 1...6, using: &generator)
                    where found.count < total {
                        found += Self.sequences(try await stream.next() ?? "")
                    }
                }
                try await writes.value
                #expect(found == (0..<UInt64(total)).map(\.self))
            }
        }
    }

    // At the log's end it waits, and tells what comes then.
    @Test func `follows the log`() async throws {
        try await `The feed`.with { server in
            try await Self.following(server) {
                let filter = EventFilter(sequences: 13..<UInt64.max)
                let stream = EventStream(server.service, filter, for: .everything, limit: 1)
                _ = try await stream.next()
                #expect(server.service.growth.followerCount == 1)
                let piece = Task { try await stream.next() }
                try Self.grant(server, 0)
                #expect(Self.sequences(try await piece.value ?? "") == [13])
                #expect(try await stream.next() == nil)
            }
        }
    }

    // However much is recorded that nobody asked for, the connection is kept.
    @Test func `has a comment where there is nothing to tell for a while`() async throws {
        try await `The feed`.with { server in
            try await Self.following(server) {
                var filter = EventFilter(sequences: 0..<UInt64.max)
                filter.source = "nobody"
                let stream = EventStream(
                    server.service,
                    filter,
                    for: .everything,
                    limit: .max,
                    silence: .milliseconds(200)
                )
                _ = try await stream.next()
                let writes = Task {
                    for number in 0..<20 { try Self.grant(server, number) }
                }
                for _ in 0..<3 { #expect(try await stream.next() == ":\n\n") }
                try await writes.value
                // The control: nothing is said where the time is not over.
                let quiet = EventStream(server.service, filter, for: .everything, limit: .max)
                _ = try await quiet.next()
                let piece = Task { try await quiet.next() }
                try await Task.sleep(for: .seconds(2))
                piece.cancel()
                #expect(try await piece.value == "event: bye\ndata:\n\n")
            }
        }
    }

    // row 9.4: what a key began ends with the key.
    @Test func `ends when its key is revoked`() async throws {
        try await `The feed`.with { server in
            try await Self.following(server) {
                let asked = Mutex(0)
                let stream = EventStream(
                    server.service,
                    EventFilter(sequences: 12..<UInt64.max),
                    for: .everything,
                    limit: .max,
                    // Revoked once what is there was told.
                    mayGoOn: {
                        asked.withLock { count in
                            count += 1
                            return count == 1
                        }
                    }
                )
                _ = try await stream.next()
                #expect(Self.sequences(try await stream.next() ?? "") == [12])
                try Self.grant(server, 0)
                #expect(try await stream.next() == "event: bye\ndata:\n\n")
                #expect(try await stream.next() == nil)
            }
        }
    }

    // row 9.6: nor does it outlive the session in which it began.
    @Test(.timeLimit(.minutes(60))) func `ends when whoever looks signs out`() async throws {
        var setup = TestServer.Setup()
        setup.isLive = true
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            try await Self.following(server) {
                let leaving = try PageVisitor(server, with: .admin)
                let staying = try PageVisitor(server, with: .admin)
                var connections: [RawConnection] = []
                for visitor in [leaving, staying] {
                    let connection = try await RawConnection(to: server)
                    connection.write(
                        "GET /console/events/stream HTTP/1.1\r\nHost: localhost\r\n"
                            + "Cookie: entitle=\(visitor.secret)\r\n\r\n"
                    )
                    try await connection.wait(for: "retry: 2000")
                    connections.append(connection)
                }
                #expect(try await leaving.post("/console/logout", []).status == 303)
                try Self.grant(server, 0)
                try await connections[0].wait(for: "event: bye")
                try await connections[1].wait(for: "g-0")
                #expect(!connections[0].text.contains("g-0"))
            }
        }
    }

    @Test func `says good-bye when the server stops`() async throws {
        try await `The feed`.with { server in
            let watch = Task { try await server.service.growth.run() }
            let filter = EventFilter(sequences: 13..<UInt64.max)
            let stream = EventStream(server.service, filter, for: .everything, limit: .max)
            _ = try await stream.next()
            watch.cancel()
            try await watch.value
            #expect(try await stream.next() == "event: bye\ndata:\n\n")
            #expect(try await stream.next() == nil)
            // Who comes now is told at once what there is, and sent away.
            let late = EventStream(
                server.service,
                EventFilter(sequences: 12..<UInt64.max),
                for: .everything,
                limit: .max
            )
            _ = try await late.next()
            #expect(Self.sequences(try await late.next() ?? "") == [12])
            #expect(try await late.next() == "event: bye\ndata:\n\n")
        }
    }

    // What nobody reads any more is not told.
    @Test func `is forgotten when its reader goes`() async throws {
        try await `The feed`.with { server in
            let filter = EventFilter(sequences: 0..<UInt64.max)
            for _ in 0..<100 {
                _ = try await EventStream(server.service, filter, for: .everything, limit: 1).next()
            }
            #expect(server.service.growth.followerCount == 0)
        }
    }

    // Bounded: who stops reading is cut off, and holds nothing up.
    @Test func `is ended where its reader stops reading`() async throws {
        var setup = TestServer.Setup()
        setup.isLive = true
        setup.deadlines.response = .seconds(2)
        try await TestServer.with(setup) { server in
            try server.publishCatalog()
            for number in 0..<40 {
                let reason = String(repeating: "because ", count: 500)
                try Self.grant(server, number, because: reason)
            }
            try await Self.following(server) {
                let request =
                    "GET /v1/events/stream?after=0 HTTP/1.1\r\nHost: localhost\r\n"
                    + "Authorization: Bearer \(server.keys[.admin] ?? "")\r\n\r\n"
                // Control: whoever reads goes on reading.
                let reading = try await RawConnection(to: server)
                reading.write(request)
                try await reading.wait(for: "g-39")
                let stalled = try await RawConnection(to: server, reads: false)
                stalled.write(request)
                var waited = 0
                while server.service.growth.followerCount > 1, waited < 300 {
                    // Something comes in all the time, so that there is always more to tell.
                    try Self.grant(server, waited + 100)
                    try await Task.sleep(for: .milliseconds(50))
                    waited += 1
                }
                #expect(server.service.growth.followerCount == 1)
                #expect(reading.isOpen)
            }
        }
    }
}
