import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import HTTPTypes
import Testing

@testable import LedgerServer

/// Clients who take what others need, over a socket.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["ENTITLE_CONNECTIONS"] != nil,
        "needs the machine to itself: tools/test runs it alone"
    ),
    .timeLimit(.minutes(2))
)
struct `A crowded server` {
    private static let health = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private static func setup(
        _ base: TestServer.Setup = TestServer.Setup(),
        _ adjust: @escaping @Sendable (inout LedgerServer.Options) -> Void
    ) -> TestServer.Setup {
        var setup = base
        setup.isLive = true
        setup.adjust = adjust
        return setup
    }

    private static func connect(
        _ count: Int,
        to server: TestServer,
        _ text: String
    ) async throws -> [RawConnection] {
        var connections: [RawConnection] = []
        for _ in 0..<count {
            let connection = try await RawConnection(to: server)
            connection.write(text)
            connections.append(connection)
        }
        return connections
    }

    /// Looks again until it holds, for some seconds.
    private static func wait(_ holds: () -> Bool) async throws {
        for _ in 0..<200 where !holds() { try await Task.sleep(for: .milliseconds(50)) }
        #expect(holds())
    }

    private static func answer(_ server: TestServer, _ text: String) async throws -> String {
        let honest = try await RawConnection(to: server)
        defer { honest.close() }
        honest.write(text)
        try await honest.wait(for: "\r\n\r\n")
        return honest.text
    }

    @Test(arguments: [true, false])
    func `holds half-sent bodies to a budget, and takes honest ones`(
        _ isBounded: Bool
    ) async throws {
        let limit = isBounded ? 300_000 : 64 << 20
        let setup = Self.setup(try AppStoreWorld.setup()) { $0.bodyByteLimit = limit }
        try await TestServer.with(setup) { server in
            let head = "POST /v1/signals/app-store HTTP/1.1\r\nHost: localhost\r\n"
            let half =
                head + "Content-Length: 100000\r\n\r\n" + String(repeating: " ", count: 50_000)
            let hostile = try await Self.connect(20, to: server, half)
            try await Self.wait {
                let bodies = server.service.bodies
                return isBounded ? bodies.released > 0 : bodies.byteCount == 20 * 50_000
            }
            let body = try AppStoreWorld.bought("n1")
            let honest = try await Self.answer(
                server,
                head + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
            )
            #expect(honest.hasPrefix("HTTP/1.1 200"), "\(honest)")
            // Those that came first gave way; without a limit, the control, none did.
            try await Self.wait { (hostile.count(where: \.isOpen) <= 6) == isBounded }
            #expect(server.service.bodies.byteCount <= limit)
            if isBounded {
                // Which of two was first, the server alone knows.
                let open = (hostile.prefix(10), hostile.suffix(10))
                #expect(open.1.count(where: \.isOpen) > open.0.count(where: \.isOpen))
            }
            for connection in hostile { connection.close() }
            try await Self.wait { server.service.bodies.byteCount == 0 }
        }
    }

    @Test(arguments: ["", "GET /healthz HTTP/1.1\r\nHost: loc", health])
    func `closes the connection that waits for longest, for one that comes`(
        _ begun: String
    ) async throws {
        try await TestServer.with(Self.setup { $0.connectionLimit = 6 }) { server in
            let hostile = try await Self.connect(12, to: server, begun)
            for _ in 0..<3 {
                let honest = try await Self.answer(server, Self.health)
                #expect(honest.hasPrefix("HTTP/1.1 200"), "\(honest)")
            }
            try await Self.wait { hostile.count(where: \.isOpen) <= 6 }
            try await Self.wait { hostile.first?.isOpen == false }
            for connection in hostile { connection.close() }
        }
    }

    @Test func `closes half-sent bodies where no connection waits for a head`() async throws {
        try await TestServer.with(Self.setup { $0.connectionLimit = 6 }) { server in
            let half =
                "POST /v1/customers/victor-1/grants HTTP/1.1\r\nHost: localhost\r\n"
                + "Authorization: Bearer \(try #require(server.keys[.write]))\r\n"
                + "Expect: 100-continue\r\nContent-Length: 100\r\n\r\n"
            var hostile: [RawConnection] = []
            for _ in 0..<12 {
                let connection = try await RawConnection(to: server)
                connection.write(half)
                // From then on it waits for a body.
                try await connection.wait(for: "100 Continue")
                connection.write("{")
                hostile.append(connection)
            }
            #expect(hostile.allSatisfy { $0.text.hasPrefix("HTTP/1.1 100") })
            let honest = try await Self.answer(server, Self.health)
            #expect(honest.hasPrefix("HTTP/1.1 200"), "\(honest)")
            try await Self.wait { hostile.count(where: \.isOpen) <= 6 }
            for connection in hostile { connection.close() }
        }
    }

    @Test(arguments: [true, false])
    func `takes so many connections from one address, and any number from a trusted proxy`(
        _ isProxy: Bool
    ) async throws {
        let setup = Self.setup { options in
            options.addressConnectionLimit = 4
            guard isProxy else { return }
            let networks = ["127.0.0.0/8", "::1"]
            options.proxies = TrustedProxies(networks.compactMap { IPNetwork($0) })
        }
        try await TestServer.with(setup) { server in
            let connections = try await Self.connect(12, to: server, Self.health)
            for connection in connections { try await connection.wait(for: "ok") }
            let answered = connections.count { $0.text.contains("HTTP/1.1 200") }
            #expect(isProxy ? answered == 12 : (1...4).contains(answered))
            for connection in connections { connection.close() }
            // Whoever is gone is counted no more.
            for _ in 0..<100 {
                if try await Self.answer(server, Self.health).hasPrefix("HTTP/1.1 200") { return }
                try await Task.sleep(for: .milliseconds(50))
            }
            Issue.record("an address stays full")
        }
    }

    // RFC 9112, section 3.2; RFC 9110, sections 7.8 and 9.3.6
    @Test(arguments: [
        ("GET /healthz HTTP/1.1\r\n\r\n", "400"),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nX: y\r\nhost: a\r\n\r\n", "400"),
        ("CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n\r\n", "404"),
        ("CONNECT /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "40"),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "200"),
    ])
    func `answers no tunnel, no two hosts and in no other protocol, and closes`(
        _ request: String,
        _ status: String
    ) async throws {
        try await TestServer.with(Self.setup { _ in }) { server in
            let bad = try await RawConnection(to: server)
            bad.write(request)
            try await bad.wait(for: "no such text")
            #expect(bad.text.hasPrefix("HTTP/1.1 " + status), "\(bad.text)")
            #expect(bad.text.lowercased().contains("connection: close") && !bad.isOpen)
            // Control: with one host the connection goes on.
            let good = try await RawConnection(to: server)
            for _ in 0..<2 { good.write(Self.health) }
            try await good.wait(for: #""ok"}HTTP/1.1 200"#)
            #expect(good.text.hasPrefix("HTTP/1.1 200"))
            good.close()
        }
    }

    // RFC 9112, section 3.2: a probe that speaks HTTP/1.0 need not name its host; two it may not name either.
    @Test(arguments: [
        ("GET /healthz HTTP/1.0\r\n\r\n", "200"), ("GET /healthz HTTP/1.1\r\n\r\n", "400"),
        ("GET /healthz HTTP/1.0\r\nHost: a\r\n\r\n", "200"),
        ("GET /healthz HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", "400"),
    ])
    func `answers a request of an old version without a host`(
        _ request: String,
        _ status: String
    ) async throws {
        try await TestServer.with(Self.setup { _ in }) { server in
            let answer = try await Self.answer(server, request)
            #expect(answer.hasPrefix("HTTP/1.1 " + status), "\(answer)")
        }
    }

    // RFC 9112, section 9.3: whoever speaks HTTP/1.0 reads until the end, unless they ask to go on.
    @Test(arguments: [
        ("", false), ("Host: a\r\n", false), ("Host: a\r\nConnection: Close\r\n", false),
        ("Connection: keep-alive\r\n", true), ("Host: a\r\nConnection: Keep-Alive\r\n", true),
    ])
    func `ends the connection behind its answer to a request of an old version`(
        _ fields: String,
        _ goesOn: Bool
    ) async throws {
        try await TestServer.with(Self.setup { _ in }) { server in
            let request = "GET /healthz HTTP/1.0\r\n\(fields)\r\n"
            let old = try await RawConnection(to: server)
            old.write(request)
            try await old.wait(for: #"{"status":"ok"}"#)
            #expect(old.text.hasPrefix("HTTP/1.1 200"), "\(old.text)")
            if goesOn {
                old.write(request)
                try await old.wait(for: #""ok"}HTTP/1.1 200"#)
                #expect(old.isOpen)
            } else {
                try await Self.wait { !old.isOpen }
            }
            old.close()
        }
    }

    // RFC 9110, section 10.1.1: an interim answer is none that HTTP/1.0 has.
    @Test func `asks for no body of an old version, and takes it`() async throws {
        try await TestServer.with(Self.setup { _ in }) { server in
            let body = #"{"tier":"pro"}"#
            let head =
                "POST /v1/customers/yara-12/grants HTTP/1.0\r\nHost: localhost\r\n"
                + "Authorization: Bearer \(try #require(server.keys[.write]))\r\n"
                + "Expect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
            let answer = try await Self.answer(server, head + body)
            #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
        }
    }

    // RFC 9110, section 10.1.1
    @Test func `asks for a body that waits to be asked for, of whom it admits`() async throws {
        try await TestServer.with(Self.setup { _ in }) { server in
            let body = #"{"tier":"pro"}"#
            func head(_ key: String) -> String {
                "POST /v1/customers/yara-12/grants HTTP/1.1\r\nHost: localhost\r\n"
                    + "Authorization: Bearer \(key)\r\nExpect: 100-continue\r\n"
                    + "Content-Length: \(body.utf8.count)\r\n\r\n"
            }
            let patient = try await RawConnection(to: server)
            patient.write(head(try #require(server.keys[.write])))
            try await patient.wait(for: "\r\n\r\n")
            #expect(patient.text == "HTTP/1.1 100 Continue\r\n\r\n")
            patient.write(body)
            try await patient.wait(for: "outcome")
            #expect(patient.text.contains("HTTP/1.1 200 OK"))
            patient.close()
            let stranger = try await Self.answer(server, head(APIKey.sample(77).text))
            #expect(stranger.hasPrefix("HTTP/1.1 401"))
        }
    }

    // Stores, rule 4
    @Test func `knows a webhook's wrong secret before its body`() async throws {
        var base = TestServer.Setup()
        base.stores.revenueCat = RevenueCatSecret.authentication
        try await TestServer.with(Self.setup(base) { _ in }) { server in
            let answer = try await Self.answer(
                server,
                "POST /v1/signals/revenuecat HTTP/1.1\r\nHost: localhost\r\n"
                    + "Authorization: Bearer wrong\r\nContent-Length: 500000\r\n\r\n{"
            )
            #expect(answer.hasPrefix("HTTP/1.1 401"))
            #expect(server.service.bodies.byteCount == 0)
        }
    }
}
