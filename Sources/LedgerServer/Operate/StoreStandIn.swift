import Encodings
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
package import Stores

/// Serves on this machine alone what plays a store's API: the other end of `HTTPStoreTransport` (row Z7).
package enum StoreStandIn {
    /// Whoever else could reach it would be told what a store tells nobody.
    package static let host = "127.0.0.1"
    /// Bytes of a question.
    private static let bodyByteLimit = 1 << 20

    /// Serves while a body runs.
    ///
    /// - Parameters:
    ///   - port: Where to listen; 0 picks one.
    ///   - transport: Answers; a question's address is its path and query alone.
    ///   - body: Told the port.
    /// - Returns: what the body does.
    /// - Throws: what `LedgerServer.isAddressFault` knows, and what the body throws.
    package static func serve<Value: Sendable>(
        port: Int,
        _ transport: @escaping StoreTransport,
        while body: @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        // Nobody looks for what strangers ask of it.
        let logger = Logger(label: "stores") { _ in SwiftLogNoOpLogHandler() }
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            responder: Responder(transport: transport),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in found.yield(channel.localAddress?.port ?? port) },
            logger: logger
        )
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: application)],
                logger: logger
            )
        )
        return try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { found.finish() }
                try await group.run()
            }
            var value: Value?
            for await port in ports {
                do {
                    value = try await body(port)
                } catch {
                    await group.triggerGracefulShutdown()
                    throw error
                }
                await group.triggerGracefulShutdown()
            }
            try await tasks.waitForAll()
            guard let value else { throw CancellationError() }
            return value
        }
    }

    private struct Responder: HTTPResponder {
        typealias Context = BasicRequestContext

        let transport: StoreTransport

        func respond(to request: Request, context: Context) async throws -> Response {
            guard let method = StoreRequest.Method(rawValue: request.method.rawValue) else {
                return Response(status: .methodNotAllowed)
            }
            let body = try await request.body.collect(upTo: bodyByteLimit)
            var asked = StoreRequest(
                method,
                request.uri.string,
                body: Array(body.readableBytesView)
            )
            // Stores look at nothing else.
            asked.headers["Authorization"] = request.headers[.authorization]
            guard let answer = await transport(asked) else {
                return Response(status: .serviceUnavailable)
            }
            return Response(
                status: HTTPResponse.Status(code: answer.status),
                headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
            )
        }
    }
}
