import Encodings
import Foundation
import HTTPTypes
import LedgerAPI
import NIOCore
import Testing

@testable import LedgerServer

/// Clients that are slow, endless or silent, over a socket.
///
/// They are cut after seconds: beside tests that take the whole machine, honest ones would be too.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["ENTITLE_CONNECTIONS"] != nil,
        "needs the machine to itself: tools/test runs it alone"
    ),
    .timeLimit(.minutes(2))
)
struct `A connection` {
    private static func setup() -> TestServer.Setup {
        var setup = TestServer.Setup()
        setup.isLive = true
        setup.deadlines = RequestDeadline.Limits(
            head: .seconds(2),
            pause: .seconds(2),
            body: .seconds(2),
            response: .seconds(2),
            // The last resort must not be what cuts.
            idle: .hours(1),
            interval: .milliseconds(50)
        )
        return setup
    }

    /// For tests in which nothing is late: a busy machine is not cut.
    private static var patient: TestServer.Setup {
        var setup = TestServer.Setup()
        setup.isLive = true
        return setup
    }

    /// The head of a grant that will have so many bytes.
    private static func head(_ server: TestServer, length: Int) throws -> String {
        let key = try #require(server.keys[.write])
        return "POST /v1/customers/victor-1/grants HTTP/1.1\r\nHost: localhost\r\n"
            + "Authorization: Bearer \(key)\r\nContent-Length: \(length)\r\n\r\n"
    }

    private static let health = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// An honest request on a connection of its own is answered.
    ///
    /// A busy machine may be too slow for these deadlines, so some attempts are made.
    private static func expectAlive(
        _ server: TestServer,
        pieces: [String] = [health]
    ) async throws {
        for _ in 0..<attemptCount {
            let honest = try await RawConnection(to: server)
            for piece in pieces {
                honest.write(piece)
                if pieces.count > 1 { try await Task.sleep(for: .milliseconds(20)) }
            }
            try await honest.wait(for: #""status":"ok""#)
            let isAnswered = honest.text.hasPrefix("HTTP/1.1 200 OK")
            honest.close()
            if isAnswered { return }
        }
        Issue.record("an honest request was not answered")
    }

    private static let attemptCount = 10

    /// Looks at what came of what cannot be read: one problem document that repeats nothing of it, the last on
    /// its connection; its members.
    @discardableResult
    private static func expectProblem(_ code: ProblemCode, in text: String) throws -> JSONValue {
        let parts = text.components(separatedBy: "\r\n\r\n")
        #expect(parts.count == 2 && parts[0].hasPrefix("HTTP/1.1 \(code.status)"), "\(text)")
        let head = parts[0].lowercased()
        for field in ["connection: close", "content-type: application/problem+json", "date: "] {
            #expect(head.contains(field), "\(text)")
        }
        let problem = try JSONValue(parsing: Array((parts.last ?? "").utf8))
        #expect(problem["code"] == .string(code.rawValue), "\(text)")
        #expect(problem["retryable"] == .bool(false))
        #expect(!text.contains("healthz"))
        return problem
    }

    @Test func `whose head drips is cut`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let slow = try await RawConnection(to: server)
            slow.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-More: ")
            try await slow.drip("a")
            #expect(!slow.isOpen && slow.text == "")
            // Control: in pieces, but in time.
            try await Self.expectAlive(
                server,
                pieces: ["GET /heal", "thz HTTP/1.1\r\nHost: loc", "alhost\r\n\r\n"]
            )
        }
    }

    @Test func `whose body drips is cut, and nothing of it is recorded`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let body = #"{"tier":"pro"}"#
            let slow = try await RawConnection(to: server)
            slow.write(try Self.head(server, length: 60_000) + body)
            try await slow.drip(" ")
            #expect(!slow.isOpen && slow.text == "")
            #expect(try server.events().isEmpty)
            // Control: in pieces, but in time.
            let honest = try await RawConnection(to: server)
            honest.write(try Self.head(server, length: body.utf8.count) + body.prefix(5))
            try await Task.sleep(for: .milliseconds(20))
            honest.write(String(body.dropFirst(5)))
            try await honest.wait(for: "outcome")
            #expect(honest.text.hasPrefix("HTTP/1.1 200 OK"))
            honest.close()
        }
    }

    @Test func `that announces too much is told so at once, and cut`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let large = try await RawConnection(to: server)
            large.write(try Self.head(server, length: 100 << 20))
            try await large.wait(for: "too_large")
            #expect(large.text.hasPrefix("HTTP/1.1 413"))
            try await large.drip(" ")
            #expect(!large.isOpen)
        }
    }

    @Test func `that sends without end is told so, and cut`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let endless = try await RawConnection(to: server)
            let head = try Self.head(server, length: 0)
            endless.write(head.replacing("Content-Length: 0", with: "Transfer-Encoding: chunked"))
            let chunk = "1000\r\n" + String(repeating: " ", count: 4096) + "\r\n"
            for _ in 0..<20 { endless.write(chunk) }
            try await endless.wait(for: "too_large")
            #expect(endless.text.hasPrefix("HTTP/1.1 413"))
            try await endless.drip(" ")
            #expect(!endless.isOpen)
        }
    }

    @Test func `that was answered early is watched on`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let patient = try await RawConnection(to: server)
            let length = 65 << 10
            patient.write(try Self.head(server, length: length))
            try await patient.wait(for: "too_large")
            patient.write(String(repeating: " ", count: length))
            patient.write(Self.health)
            try await patient.wait(for: #""status":"ok""#)
            // Control: it may go on.
            #expect(patient.text.contains("HTTP/1.1 200 OK"))
            patient.write(try Self.head(server, length: length))
            try await Task.sleep(for: .milliseconds(100))
            patient.write(
                String(repeating: " ", count: length) + "GET /healthz HTTP/1.1\r\nX-More: "
            )
            try await patient.drip("a")
            #expect(!patient.isOpen)
        }
    }

    @Test func `that does not read its answers is cut`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let request = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
            let deaf = try await RawConnection(to: server, reads: false)
            deaf.write(String(repeating: request, count: 20_000))
            try await deaf.drip("\n")
            #expect(!deaf.isOpen)
            // Control: who reads gets them all.
            let honest = try await RawConnection(to: server)
            honest.write(String(repeating: request, count: 50) + Self.health)
            try await honest.wait(for: #"{"status":"ok"}"#)
            #expect(honest.text.split(separator: "HTTP/1.1 200 OK").count == 51)
            honest.close()
        }
    }

    @Test(arguments: [false, true])
    func `has all that it asks at once answered`(_ ends: Bool) async throws {
        try await TestServer.with(Self.setup()) { server in
            let count = 100
            let eager = try await RawConnection(to: server)
            eager.write(
                (0..<count).map { "GET /none/\($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }.joined()
            )
            // Its end does not overtake what waits.
            if ends { eager.end() } else { eager.write(Self.health) }
            try await eager.wait(for: #"{"status":"ok"}"#)
            let answers = eager.text.split(separator: "HTTP/1.1 404 Not Found").count
            #expect(answers >= count)
            #expect(eager.text.contains(#""status":"ok""#) != ends)
            eager.close()
        }
    }

    /// A request whose answer takes seconds.
    private static func slow(_ server: TestServer) throws -> String {
        let key = try #require(server.keys[.audit])
        return "GET /v1/audit?scope=everything HTTP/1.1\r\nHost: localhost\r\n"
            + "Authorization: Bearer \(key)\r\n\r\n"
    }

    /// Answers are awaited for longer than a client may say nothing.
    private static var slowSetup: TestServer.Setup {
        var setup = Self.setup()
        setup.audit = { _, _, _ in
            Thread.sleep(forTimeInterval: 4)
            throw CancellationError()
        }
        return setup
    }

    @Test func `has what it asks behind another answered, however long that takes`() async throws {
        try await TestServer.with(Self.slowSetup) { server in
            let connection = try await RawConnection(to: server)
            connection.write(try Self.health + Self.slow(server))
            try await connection.wait(for: #""code":"busy""#)
            #expect(connection.text.contains("HTTP/1.1 503"), "\(connection.text)")
            connection.close()
        }
    }

    // Strangers would have us hold as many heads as a read has.
    @Test func `that asks for thousands while another is answered is cut`() async throws {
        try await TestServer.with(Self.slowSetup) { server in
            let greedy = try await RawConnection(to: server)
            let request = "GET / HTTP/1.1\r\nHost:a\r\n\r\n"
            greedy.write(try Self.slow(server) + String(repeating: request, count: 5000))
            try await greedy.wait(for: "HTTP/1.1")
            #expect(!greedy.isOpen && greedy.text == "")
            // Control: hundreds have their turn.
            let eager = try await RawConnection(to: server)
            eager.write(
                try Self.slow(server) + String(repeating: request, count: 400) + Self.health
            )
            try await eager.wait(for: #"{"status":"ok"}"#)
            #expect(eager.text.contains(#"{"status":"ok"}"#))
            eager.close()
        }
    }

    @Test func `with a broken chunk is told so, by no fault of ours`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let bad = try await RawConnection(to: server)
            let head = try Self.head(server, length: 0)
            bad.write(head.replacing("Content-Length: 0", with: "Transfer-Encoding: chunked"))
            bad.write("fffffffffffffffff\r\n")
            try await bad.wait(for: "no such text")
            try Self.expectProblem(.invalidRequest, in: bad.text)
            try await Self.expectAlive(server)
        }
    }

    @Test func `that says nothing stops nobody, and is cut`() async throws {
        try await TestServer.with(Self.setup()) { server in
            let idle = try await withThrowingTaskGroup(of: RawConnection.self) { group in
                for _ in 0..<200 { group.addTask { try await RawConnection(to: server) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for _ in 0..<20 { try await Self.expectAlive(server) }
            for connection in idle { try await connection.wait(for: "nothing") }
            #expect(idle.allSatisfy { !$0.isOpen && $0.text == "" })
            try await Self.expectAlive(server)
        }
    }

    @Test(
        arguments: [
            (String(repeating: "x", count: 17 << 10), .headTooLarge),
            ((0...100).map { "a\r\nX-\($0): b" }.joined(), .headTooLarge),
            ("a\u{0}b", .invalidRequest), ("a\r\nContent-Length: -1", .invalidRequest),
            ("a\r\nContent-Length: 1\r\nContent-Length: 2", .invalidRequest),
            ("a\r\n no name", .invalidRequest),
            ("a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3", .invalidRequest),
        ] as [(String, ProblemCode)]
    )
    func `with a head of another form is refused`(
        _ field: String,
        _ code: ProblemCode
    ) async throws {
        try await TestServer.with(Self.patient) { server in
            let bad = try await RawConnection(to: server)
            bad.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-More: \(field)\r\n\r\n")
            try await bad.wait(for: "no such text")
            let problem = try Self.expectProblem(code, in: bad.text)
            let id = try #require(problem["requestId"]?.string)
            #expect(bad.text.contains("Request-Id: \(id)\r\n"))
            #expect(server.log.all.contains { $0.contains(#""requestId":"\#(id)""#) })
            // Control: the server lives.
            try await Self.expectAlive(server)
        }
    }

    @Test(arguments: [
        "BREW /healthz HTTP/1.1\r\nHost: a\r\n\r\n", "GET /healthz HTTP/9.9\r\nHost: a\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}", "GET /healthz HTT",
    ])
    func `with what is no request is told so`(_ text: String) async throws {
        try await TestServer.with(Self.patient) { server in
            let bad = try await RawConnection(to: server)
            bad.write(text)
            bad.end()
            try await bad.wait(for: "no such text")
            try Self.expectProblem(.invalidRequest, in: bad.text)
        }
    }

    // What is asked before is answered before, and each request once: also one whose body nobody waits for.
    @Test(
        arguments: [
            (health + health + health + "BREW / HTTP/1.1\r\n\r\n", ["200", "200", "200", "400"]),
            (
                health + "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                ["200", "404"]
            ),
            ("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\nBREW", ["200"]),
            (
                health
                    + "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
                ["200", "200"]
            ),
        ] as [(String, [String])]
    )
    func `with what is no request behind others has each of them answered`(
        _ text: String,
        _ statuses: [String]
    ) async throws {
        try await TestServer.with(Self.patient) { server in
            let bad = try await RawConnection(to: server)
            bad.write(text)
            try await bad.wait(for: "no such text")
            let answers = bad.text.components(separatedBy: "HTTP/1.1 ").dropFirst()
            #expect(answers.map { String($0.prefix(3)) } == statuses, "\(bad.text)")
            if statuses.last == "400" { #expect(bad.text.contains(#""code":"invalid_request""#)) }
        }
    }

    @Test(arguments: [
        [0xFF], [0xC3], [0xC3, 0xBC], Array("%ff".utf8), Array("%2e%2e".utf8), Array("%00".utf8),
        Array("a b".utf8), [0x01],
    ])
    func `with a path of another form is refused`(_ bytes: [UInt8]) async throws {
        try await TestServer.with(Self.patient) { server in
            let key = try #require(server.keys[.read])
            let bad = try await RawConnection(to: server)
            bad.write("GET /v1/customers/".utf8)
            bad.write(bytes)
            bad.write(" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\n\r\n")
            try await bad.wait(for: "\r\n\r\n")
            #expect(bad.text.hasPrefix("HTTP/1.1 400"), "\(bad.text)")
            try await Self.expectAlive(server)
            bad.close()
        }
    }

    // RFC 9110, sections 9.3.2 and 15.4.5
    @Test func `goes on behind answers without a body`() async throws {
        try await TestServer.with(Self.patient) { server in
            let connection = try await RawConnection(to: server)
            connection.write("HEAD /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.write(
                "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: *\r\n\r\n"
            )
            connection.write(Self.health)
            try await connection.wait(for: #"{"status":"ok"}"#)
            let heads = connection.text.split(separator: "\r\n\r\n")
            #expect(
                heads.map { $0.prefix(12) } == [
                    "HTTP/1.1 200", "HTTP/1.1 304", "HTTP/1.1 200", #"{"status":"o"#,
                ]
            )
            connection.close()
        }
    }
}
