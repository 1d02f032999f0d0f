import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL

/// A connection that is encrypted, on which its client chooses HTTP/2 or HTTP/1.1 (RFC 7301), behind a
/// door.
struct SecureChannel: ServerChildChannel {
    typealias Value = HTTP2UpgradeChannel.Value

    private let upgrade: HTTP2UpgradeChannel
    private let connections: Connections
    private let limits: RequestDeadline.Limits

    /// `http`: what a connection of HTTP/1.1 and a stream of HTTP/2 have alike.
    ///
    /// - Throws: what NIOSSL throws of a certificate.
    init(
        _ tls: TLSConfiguration,
        _ http: HTTP1Channel.Configuration,
        _ connections: Connections,
        _ limits: RequestDeadline.Limits,
        responder: @escaping HTTPChannelHandler.Responder
    ) throws {
        upgrade = try HTTP2UpgradeChannel(
            tlsConfiguration: tls,
            configuration: HTTP2ChannelConfiguration(
                idleTimeout: .nanoseconds(limits.pause.nanoseconds),
                gracefulCloseTimeout: .nanoseconds(limits.response.nanoseconds),
                streamConfiguration: http
            ),
            responder: responder
        )
        self.connections = connections
        self.limits = limits
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        do {
            try channel.pipeline.syncOperations.addHandler(
                ConnectionDoor(connections, limits)
            )
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return upgrade.setup(channel: channel, logger: logger)
    }

    func handle(value: Value, logger: Logger) async {
        await upgrade.handle(value: value, logger: logger)
    }
}
