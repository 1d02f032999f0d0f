import HTTPTypes
import Hummingbird
import HummingbirdCore
import LedgerOperations
import Logging
import NIOCore
import NIOExtras
import NIOPosix
import ServiceLifecycle

/// A socket that whoever starts the server has bound for it, as systemd does (sd_listen_fds(3)).
package struct PassedSocket: Sendable {
    let descriptor: Int32

    /// The first one that is passed.
    private static let first: Int32 = 3

    /// Takes it where variables of the environment say that there is one; nil: there is none for this process.
    ///
    /// - Throws: `OperationFault` where there are more: one address is served.
    package init?(processID: Int32, variable: (_ name: String) -> String?) throws {
        guard variable("LISTEN_PID") == String(processID),
            let count = variable("LISTEN_FDS").flatMap({ Int($0) }), count > 0
        else { return nil }
        guard count == 1 else {
            throw OperationFault(
                .configuration,
                "\(count) sockets are passed, and one is listened on",
                place: "LISTEN_FDS",
                hint: "name one address in the socket's unit"
            )
        }
        descriptor = Self.first
    }
}

/// The server on a socket that is bound already: who asks while it starts, or is started anew, waits, and is
/// not refused.
///
/// Hummingbird binds each address itself; what speaks to a connection is Hummingbird's here, too.
struct PassedSocketServer: Service {
    private let passed: PassedSocket
    private let options: LedgerServer.Options
    private let service: LedgerService
    private let onListening: @Sendable (SocketAddress?) -> Void

    init(
        _ passed: PassedSocket,
        _ options: LedgerServer.Options,
        _ service: LedgerService,
        _ onListening: @escaping @Sendable (SocketAddress?) -> Void
    ) {
        self.passed = passed
        self.options = options
        self.service = service
        self.onListening = onListening
    }

    func run() async throws {
        let responder = LedgerServer.responder(service)
        let (logger, clock) = (options.logger, options.clock)
        let child = try LedgerServer.child(options, service) {
            (request, writer: consuming ResponseWriter, channel) in
            let source = ApplicationRequestContextSource(channel: channel, logger: logger)
            let context = ConnectionContext(source: source)
            var response = try await responder.respond(to: request, context: context)
            response.headers[.date] = clock().httpDate
            try await writer.write(response: response.head, body: response.body)
        }
        try await serve(child)
    }

    private func serve(_ child: some ServerChildChannel) async throws {
        let (group, logger) = (MultiThreadedEventLoopGroup.singleton, options.logger)
        let quiescing = ServerQuiescingHelper(group: group)
        let acceptance = Connections.Acceptance(connections: service.connections)
        let server = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: numericCast(LedgerServer.backlog))
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(
                        AvailableConnectionsChannelHandler(delegate: acceptance)
                    )
                    try pipeline.addHandler(quiescing.makeServerChannelHandler(channel: channel))
                }
            }
            .bind(passed.descriptor) { child.setup(channel: $0, logger: logger) }
        await withGracefulShutdownHandler {
            onListening(server.channel.localAddress)
            await withDiscardingTaskGroup { group in
                do {
                    try await server.executeThenClose { connections in
                        for try await connection in connections {
                            group.addTask { await child.handle(value: connection, logger: logger) }
                        }
                    }
                } catch {
                    logger.error(
                        "no more connections are accepted",
                        metadata: ["fault": "\(type(of: error))"]
                    )
                }
            }
        } onGracefulShutdown: {
            quiescing.initiateShutdown(promise: nil)
        }
    }
}
