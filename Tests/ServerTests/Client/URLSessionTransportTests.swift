import Encodings
import EntitlementClient
import LedgerServer
import NIOCore
import NIOPosix
import Stores
import Synchronization
import Testing

/// The system's own way to call a server, against one on this machine.
struct `The system's transport` {
    /// Answers with what it was asked, by the path.
    private static let echo: StoreTransport = { request in
        if request.url.hasSuffix("/large") {
            let body = [UInt8](repeating: 32, count: ClientResponse.byteLimit + 1)
            return StoreResponse(status: 200, body: body)
        }
        if request.url.hasSuffix("/never") {
            // Later than it is waited for; the server's end waits for it too.
            try? await Task.sleep(for: .seconds(5))
        }
        if request.url.hasSuffix("/failing") { return StoreResponse(status: 503, body: [33]) }
        let said = JSONValue.members([
            "method": .string(request.method.rawValue), "url": .string(request.url),
            "authorization": .optional(request.headers["Authorization"]),
            "body": .string(String(decoding: request.body, as: UTF8.self)),
        ])
        return StoreResponse(status: 200, body: Array(said.description.utf8))
    }

    @Test func `carries a call and its answer whole, and says so where there is none`() async throws
    {
        try await StoreStandIn.serve(port: 0, Self.echo) { port in
            // Longer than a machine on which everything runs at once takes.
            let transport = URLSessionTransport(seconds: 600).transport
            let url = "http://127.0.0.1:\(port)"
            let answer = try #require(
                await transport(
                    ClientRequest(
                        .post,
                        url + "/a%20b?c=d",
                        headers: ["Authorization": "Bearer token"],
                        body: Array("ü".utf8)
                    )
                )
            )
            let said = try JSONValue(parsing: answer.body)
            #expect(answer.status == 200 && said["method"]?.string == "POST")
            #expect(said["url"]?.string?.hasSuffix("/a%20b?c=d") == true)
            #expect(said["authorization"]?.string == "Bearer token")
            #expect(said["body"]?.string == "ü")
            #expect(answer.headers["content-type"] == "application/json")
            let failing = await transport(ClientRequest(.get, url + "/failing"))
            #expect(failing?.status == 503 && failing?.body == [33])
            // Larger than an answer may be, later than one is waited for, and no address at all.
            #expect(await transport(ClientRequest(.get, url + "/large")) == nil)
            let hasty = URLSessionTransport(seconds: 1).transport
            #expect(await hasty(ClientRequest(.get, url + "/never")) == nil)
            #expect(await transport(ClientRequest(.get, "no address")) == nil)
        }
        // Nobody listens.
        let transport = URLSessionTransport(seconds: 5).transport
        #expect(await transport(ClientRequest(.get, "http://127.0.0.1:9/")) == nil)
    }

    // rows ES5, CL5: a purchase would arrive as a question, and its customer's token at somebody else
    @Test(arguments: [301, 302, 303, 307, 308])
    func `goes nowhere that an answer names`(_ status: Int) async throws {
        let asked = Mutex<[StoreRequest]>([])
        let other: StoreTransport = { request in
            asked.withLock { $0.append(request) }
            return StoreResponse(status: 200)
        }
        try await StoreStandIn.serve(port: 0, other) { port in
            let url = "http://127.0.0.1:\(port)/elsewhere"
            let channel = try await Self.moved(status, to: url)
            let first = try #require(channel.localAddress?.port)
            let transport = URLSessionTransport(seconds: 600).transport
            func call(_ url: String) -> ClientRequest {
                ClientRequest(
                    .post,
                    url,
                    headers: ["Authorization": "Bearer token"],
                    body: Array("{}".utf8)
                )
            }
            let answer = await transport(call("http://127.0.0.1:\(first)/"))
            #expect(answer?.status == status)
            #expect(asked.withLock(\.self) == [])
            // The control: somebody is there, and would be told.
            #expect(await transport(call(url))?.status == 200)
            let tokens = asked.withLock(\.self).map { $0.headers["Authorization"] }
            #expect(tokens == ["Bearer token"])
            try await channel.close().get()
        }
    }

    /// A server that answers each call by another address.
    private static func moved(_ status: Int, to url: String) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Moved(status, to: url))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    /// Answers a call whose body is an empty object, once it is there.
    private final class Moved: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let head: String
        private var asked = ""

        init(_ status: Int, to url: String) {
            head = "HTTP/1.1 \(status) Moved\r\nLocation: \(url)\r\nContent-Length: 0\r\n\r\n"
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            asked += String(buffer: unwrapInboundIn(data))
            guard asked.contains("{}") else { return }
            asked = ""
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head)), promise: nil)
        }
    }

    // A time-out that begins anew with each byte never comes.
    @Test func `waits for a whole answer, however lively its bytes drip`() async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Dripping())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        let clock = ContinuousClock()
        let began = clock.now
        let transport = URLSessionTransport(seconds: 2).transport
        #expect(await transport(ClientRequest(.get, "http://127.0.0.1:\(port)/")) == nil)
        // The bytes would go on for longer than an hour; beside all other tests a thread may be long in coming.
        #expect(clock.now - began < .seconds(3000))
        try await channel.close().get()
    }

    /// Sends a head, then a byte of its body each 200 milliseconds.
    private final class Dripping: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private var drip: RepeatedTask?

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard drip == nil else { return }
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head)), promise: nil)
            let channel = context.channel
            drip = context.eventLoop.scheduleRepeatedTask(
                initialDelay: .milliseconds(200),
                delay: .milliseconds(200)
            ) { _ in
                channel.writeAndFlush(ByteBuffer(string: " "), promise: nil)
            }
        }

        func channelInactive(context: ChannelHandlerContext) { drip?.cancel() }
    }
}
