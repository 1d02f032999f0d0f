import Hummingbird
import HummingbirdCore
import NIOCore
import NIOPosix
import NIOSSL

/// What speaks to whoever connects.
extension LedgerServer {
    /// Connections that wait to be accepted.
    static let backlog = 4096

    /// The server as Hummingbird runs and tests it.
    ///
    /// `socket`: one of this machine, whose owner may all; nil: the network.
    static func application(
        _ options: Options,
        _ service: LedgerService,
        at socket: BindAddress? = nil,
        onListening: @escaping @Sendable (SocketAddress?) -> Void = { _ in }
    ) throws -> some ApplicationProtocol {
        Application(
            responder: responder(service, isOwners: socket != nil),
            server: HTTPServerBuilder { responder in
                try child(options, service, isOwners: socket != nil, responder)
            },
            configuration: ApplicationConfiguration(
                address: socket ?? options.address,
                backlog: backlog,
                availableConnectionsDelegate: Connections.Acceptance(
                    connections: service.connections
                )
            ),
            onServerRunning: { onListening($0.localAddress) },
            logger: options.logger
        )
    }

    /// A socket's path at which somebody answers.
    struct AddressTaken: Error {}

    /// Refuses a socket's path at which somebody answers: listening there would take it from them, and remove it
    /// at the end.
    ///
    /// - Throws: `AddressTaken`.
    static func refuseTaken(_ options: Options) async throws {
        guard options.passedSocket == nil, let path = options.hostSocket else { return }
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        // Nobody answers: whatever else is wrong with the path is told when the server listens there.
        guard let other = try? await bootstrap.connect(unixDomainSocketPath: path).get() else {
            return
        }
        other.close(mode: .all, promise: nil)
        throw AddressTaken()
    }

    /// Answers requests; `isOwners`: of the ledger's owner.
    static func responder(_ service: LedgerService, isOwners: Bool = false) -> LedgerResponder {
        LedgerResponder(
            RouteTable.routes + PageTable.routes(beside: service.simulator),
            service,
            isOwners: isOwners
        )
    }

    /// What speaks to one connection: encrypted on the network, where there is a certificate.
    static func child(
        _ options: Options,
        _ service: LedgerService,
        isOwners: Bool = false,
        _ responder: @escaping HTTPChannelHandler.Responder
    ) throws -> any ServerChildChannel {
        var http = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                ConnectionPlace(service.connections), RequestDeadline(options.deadlines),
                PipelinedRequests(), UnreadableRequests(service),
            ],
            idleTimeout: options.deadlines.idle
        )
        http.httpDecoder = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: headByteLimit,
            maxHeaderListSize: headByteLimit,
            maxHeaderFieldCount: headerFieldLimit
        )
        guard !isOwners, let tls = options.trust.tls else {
            return HTTP1Channel(responder: responder, configuration: http)
        }
        return try SecureChannel(
            service.trust.tlsConfiguration(tls),
            http,
            service.connections,
            options.deadlines,
            responder: responder
        )
    }
}
