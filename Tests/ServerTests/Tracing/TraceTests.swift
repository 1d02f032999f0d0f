import Encodings
import Entitlements
import HTTPTypes
import LedgerAPI
import Logging
import NIOCore
import ServiceLifecycle
import Stores
import Synchronization
import Testing
import Tracing

@testable import LedgerServer

/// Spans of requests and their parts (OpenTelemetry; W3C Trace Context).
struct `A request's spans` {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let parent = "b7ad6b7169203331"

    private static func traced() -> TestServer.Setup {
        var setup = TestServer.Setup()
        setup.adjust = { $0.traces = LedgerServer.TraceCollector(url: "http://127.0.0.1:9/") }
        return setup
    }

    private static func headers(_ flags: String) -> HTTPFields {
        [.traceparent: "00-\(trace)-\(parent)-\(flags)"]
    }

    private static func spans(_ server: TestServer) -> [EndedSpan] {
        server.service.metrics.spans.take(upTo: 1000)
    }

    private static func text(_ spans: [EndedSpan]) -> String {
        String(decoding: SpanDocument.bytes(of: spans, service: "entitle"), as: UTF8.self)
    }

    @Test func `goes on from the caller's, with the append as a part`() async throws {
        try await TestServer.with(Self.traced()) { server in
            try server.publishCatalog()
            let grants = "/v1/customers/wanda-1/grants"
            let body = #"{"tier":"pro","reason":"a friend of someone"}"#
            let answer = try await server.post(grants, body, headers: Self.headers("01"))
            #expect(answer.status == 200)
            let spans = Self.spans(server)
            try #require(spans.map(\.name) == ["ledger append", "POST /v1/customers/{id}/grants"])
            let (part, request) = (spans[0], spans[1])
            #expect(request.place.traceID == Self.trace)
            #expect(SpanPlace.digits(request.parent ?? 0) == Self.parent)
            #expect(request.kind == .server && part.kind == .internal)
            #expect(part.parent == request.place.span && part.place.traceID == Self.trace)
            #expect(request.start <= part.start && part.end <= request.end)
            // The line of the log leads there.
            #expect(server.log.all.contains { $0.contains(request.place.traceParent) })
        }
    }

    // law 6: whoever collects spans learns of nobody.
    @Test func `names nobody`() async throws {
        try await TestServer.with(Self.traced()) { server in
            try server.publishCatalog()
            server.audit.add(name: "someone@example.com")
            let path = "/v1/customers/someone@example.com"
            _ = try await server.get(path)
            _ = try await server.get(path + "/features/someone@example.com?at=2026-01-01")
            _ = try await server.get("/someone@example.com")
            _ = try await server.post(path + "/grants", #"{"grantId":"someone@example.com"}"#)
            let spans = Self.spans(server)
            #expect(spans.count >= 4)
            #expect(spans.contains { $0.name == "GET" }, "what leads nowhere has no template")
            #expect(LogLines.names(in: Self.text(spans), among: server.audit.names) == [])
        }
    }

    // The control: what a library notes of an address is kept from who collects, whoever notes it.
    @Test func `sends what is on the list alone`() throws {
        let queue = SpanQueue()
        let span = SpanTracer(queue: queue).startSpan("store call", context: .topLevel)
        span.attributes["url.full"] = "https://store.example/purchases/someone@example.com"
        span.attributes[SpanDocument.server] = "store.example"
        struct Fault: Error { var name = "someone@example.com" }
        span.recordError(Fault())
        span.setStatus(SpanStatus(code: .error, message: "someone@example.com"))
        span.addEvent("someone@example.com")
        span.end()
        let spans = queue.take(upTo: 9)
        try #require(spans.count == 1)
        #expect(spans[0].attributes.count == 3)
        let text = Self.text(spans)
        #expect(!text.contains("someone") && text.contains("store.example"))
        #expect(text.contains(#""code":2"#) && text.contains("Fault"))
    }

    @Test(arguments: [("00", false), ("01", true)])
    func `is sent where its caller's is`(_ flags: String, _ isSent: Bool) async throws {
        try await TestServer.with(Self.traced()) { server in
            _ = try await server.send(.get, "/v1/status", headers: Self.headers(flags))
            #expect(Self.spans(server).isEmpty != isSent)
        }
    }

    // Who looks whether the server is well fills no collector.
    @Test func `does not begin with a look at the server`() async throws {
        try await TestServer.with(Self.traced()) { server in
            for path in ["/healthz", "/readyz", "/metrics"] { _ = try await server.get(path) }
            #expect(Self.spans(server).isEmpty)
            _ = try await server.send(.get, "/healthz", headers: Self.headers("01"))
            #expect(Self.spans(server).map(\.name) == ["GET /healthz"])
        }
    }

    @Test func `that begins here is sent as often as it is said`() {
        let queue = SpanQueue()
        for (percent, count) in [(0, 0), (100, 50)] {
            let tracer = SpanTracer(queue: queue, percent: percent)
            for _ in 0..<50 { tracer.startSpan("a", context: .topLevel).end() }
            #expect(queue.take(upTo: 100).count == count)
        }
    }

    // The control: without a collector nothing is made, and nothing waits.
    @Test func `is none where nobody collects`() async throws {
        try await TestServer.with { server in
            _ = try await server.send(.get, "/v1/status", headers: Self.headers("01"))
            #expect(Self.spans(server).isEmpty)
        }
    }

    @Test func `is said on in a header`() throws {
        struct Writer: Injector {
            func inject(_ value: String, forKey key: String, into fields: inout [String: String]) {
                fields[key] = value
            }
        }
        let tracer = SpanTracer(queue: SpanQueue())
        let span = tracer.startSpan("a", context: .topLevel)
        var fields: [String: String] = [:]
        tracer.inject(span.context, into: &fields, using: Writer())
        let said = try #require(TraceParent(fields["traceparent"]))
        #expect(SpanPlace(said) == span.place)
    }
}

/// Sending spans to whoever collects them.
struct `A collector of spans` {
    private static func fill(_ queue: SpanQueue, _ count: Int) {
        let tracer = SpanTracer(queue: queue)
        for _ in 0..<count { tracer.startSpan("a", context: .topLevel).end() }
    }

    /// `timeout`: a busy machine answers late.
    private static func sender(
        _ queue: SpanQueue,
        port: Int,
        timeout: TimeAmount = .seconds(300)
    ) -> SpanSender {
        SpanSender(
            queue: queue,
            collector: .init(url: "http://127.0.0.1:\(port)/v1/traces"),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            interval: .milliseconds(5),
            pause: .milliseconds(5),
            timeout: timeout
        )
    }

    /// Sends until something holds, however busy the machine is.
    private static func sending(
        _ sender: SpanSender,
        until isSo: @Sendable () -> Bool
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await sender.run() }
            for _ in 0..<12_000 where !isSo() { try await Task.sleep(for: .milliseconds(10)) }
            tasks.cancelAll()
        }
        #expect(isSo())
    }

    /// Collects, and answers as it is told; the last answer again and again.
    private final class Collector: Sendable {
        let bodies = Mutex<[JSONValue]>([])
        private let answers: Mutex<[StoreResponse]>

        init(_ answers: [(status: Int, body: String)]) {
            self.answers = Mutex(
                answers.map {
                    StoreResponse(status: $0.status, headers: [:], body: Array($0.body.utf8))
                }
            )
        }

        @Sendable
        func answer(_ request: StoreRequest) async -> StoreResponse? {
            // What is no JSON is none of ours.
            let body = (try? JSONValue(parsing: request.body)) ?? .null
            bodies.withLock { $0.append(body) }
            return answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first }
        }
    }

    @Test(arguments: [
        ([(200, "{}")], SpanQueue.Outcome.sent, 600),
        // As gateways answer while they restart.
        ([(503, ""), (429, ""), (200, "")], .sent, 600),
        ([(200, #"{"partialSuccess":{"rejectedSpans":"7"}}"#), (200, "{}")], .rejected, 7),
        ([(400, "")], .failed, 512),
        ([(503, "")], .failed, 512),
    ])
    func `is sent batches, again where it asks for it`(
        _ answers: [(Int, String)],
        _ outcome: SpanQueue.Outcome,
        _ count: Int
    ) async throws {
        let collector = Collector(answers.map { (status: $0.0, body: $0.1) })
        try await StoreStandIn.serve(port: 0, collector.answer) { port in
            let queue = SpanQueue()
            Self.fill(queue, 600)
            try await Self.sending(Self.sender(queue, port: port)) {
                queue[outcome] >= UInt64(count)
            }
        }
        let first = collector.bodies.withLock { $0.first }
        let scope = first?["resourceSpans"]?.array?.first?["scopeSpans"]?.array?.first
        #expect(scope?["spans"]?.array?.count == 512)
    }

    // One that is dead or hangs costs spans, counted, and no time of anybody's.
    @Test(arguments: [true, false])
    func `that does not answer holds up nobody`(_ hangs: Bool) async throws {
        let isOver = Mutex(false)
        @Sendable
        func hang(_: StoreRequest) async -> StoreResponse? {
            while !isOver.withLock({ $0 }) {
                // Who is cancelled looks at once.
                try? await Task.sleep(for: .milliseconds(20))
            }
            return nil
        }
        try await StoreStandIn.serve(port: 0, hang) { port in
            defer { isOver.withLock { $0 = true } }
            var setup = TestServer.Setup()
            setup.adjust = { $0.traces = .init(url: "http://127.0.0.1:\(port)/") }
            try await TestServer.with(setup) { server in
                let queue = server.service.metrics.spans
                Self.fill(queue, SpanQueue.limit + 100)
                #expect(queue[.dropped] == 100)
                // Nothing listens at port 9.
                let sender = Self.sender(
                    queue,
                    port: hangs ? port : 9,
                    timeout: .milliseconds(500)
                )
                try await Self.sending(sender) { queue[.failed] >= 512 }
                let answer = try await server.get("/v1/status")
                #expect(answer.status == 200 && queue[.sent] == 0)
                let metrics = try await server.get("/metrics").body
                #expect(metrics.contains(#"entitle_spans_total{outcome="dropped"} 100"#))
            }
        }
    }

    /// Has a sender stopped, as a server is.
    private static func stopping(_ sender: SpanSender) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: sender)],
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
        )
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test func `gets all that waits when the server ends`() async throws {
        let collector = Collector([(status: 200, body: "{}")])
        try await StoreStandIn.serve(port: 0, collector.answer) { port in
            let queue = SpanQueue()
            Self.fill(queue, 1500)
            var sender = Self.sender(queue, port: port)
            (sender.interval, sender.lastPatience) = (.seconds(3600), .minutes(5))
            try await Self.stopping(sender)
            #expect(queue[.sent] == 1500)
        }
    }

    @Test func `that is away when the server ends costs spans, which are told`() async throws {
        let queue = SpanQueue()
        Self.fill(queue, 1500)
        let log = LogLines()
        let sender = SpanSender(
            queue: queue,
            // Nothing listens there.
            collector: .init(url: "http://127.0.0.1:9/v1/traces"),
            logger: log.logger(),
            interval: .seconds(3600),
            lastPatience: .milliseconds(100)
        )
        try await Self.stopping(sender)
        #expect(queue[.failed] == 1500 && queue.take(upTo: 1).isEmpty)
        #expect(log.all.contains { $0.contains("before the collector") && $0.contains("1500") })
    }
}
