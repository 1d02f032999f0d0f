import NIOCore
import NIOHTTP1

/// Hands a request of HTTP/1.0 on as one of HTTP/1.1 that means the same: what stands behind knows no
/// versions.
///
/// It may name no host, as probes of load balancers do (RFC 9112, section 3.2), and gets an empty one:
/// whoever speaks HTTP/1.1 must name theirs.
final class OldVersionRequests: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    private static let host = "Host"

    /// Stands behind what reads HTTP/1, on the connection's event loop; a stream of HTTP/2 has no such thing.
    static func stand(in pipeline: ChannelPipeline) {
        let operations = pipeline.syncOperations
        // Nothing is found where nothing reads HTTP/1.
        let reader = try? operations.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        guard let reader else { return }
        let place = ChannelPipeline.SynchronousOperations.Position.after(reader)
        // It fails where the connection is gone already.
        try? operations.addHandler(OldVersionRequests(), position: place)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data), head.version == .http1_0 else {
            return context.fireChannelRead(data)
        }
        if !head.headers.contains(name: Self.host) { head.headers.add(name: Self.host, value: "") }
        // Whoever speaks HTTP/1.0 knows no interim answers (RFC 9110, section 10.1.1).
        head.headers.remove(name: "Expect")
        // They read until the end, unless they say otherwise.
        if !head.isKeepAlive { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }
}
