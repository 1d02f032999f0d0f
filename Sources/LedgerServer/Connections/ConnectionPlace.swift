import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Tells the others of one connection, or of one stream of HTTP/2, which counts as one: where it comes
/// from, and what it waits for.
final class ConnectionPlace: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var seat: ConnectionSeat
    /// Requests whose head came and whose response is not out.
    private var openCount = 0
    /// The door of the connection that it is a stream of; nil: it is a connection.
    private var door: ConnectionDoor?
    /// Whether the last request that came is the last: what comes behind it is nobody's.
    private var isLast = false

    init(_ connections: Connections) { seat = ConnectionSeat(connections) }

    private func enter(_ context: ChannelHandlerContext) {
        guard !seat.isTaken else { return }
        // Who spoke TLS was counted at the door until now.
        Self.door(of: context.channel)?.handOver()
        // What a connection was accepted by mostly has another loop, and no door in any case.
        let door = context.channel.parent.flatMap {
            $0.eventLoop.inEventLoop ? Self.door(of: $0) : nil
        }
        if let door {
            guard door.streamBegins() else { return context.close(promise: nil) }
            self.door = door
        }
        guard seat.take(context.channel, as: door == nil ? .connection : .stream) else {
            return context.close(promise: nil)
        }
    }

    /// Streams are on their connection's event loop.
    private static func door(of channel: any Channel) -> ConnectionDoor? {
        // Most connections have none.
        try? channel.pipeline.syncOperations.handler(type: ConnectionDoor.self)
    }

    private func leave() {
        seat.leave()
        door?.streamEnded()
        door = nil
    }

    func handlerAdded(context: ChannelHandlerContext) {
        OldVersionRequests.stand(in: context.pipeline)
        if context.channel.isActive { enter(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelActive(context: ChannelHandlerContext) {
        enter(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // No tunnel is dug here, and whoever names two hosts means another with each (RFC 9112,
            // section 3.2).
            // A stream has no other request behind it.
            isLast =
                door == nil
                && (head.method == .connect || !head.hasOneHost || head.asksForUpgrade)
            seat.endWait()
            openCount += 1
            seat.waitForBody()
        case .body: break
        case .end:
            seat.endWait()
            if openCount == 0 { seat.waitForHead() }
        }
        context.fireChannelRead(data)
    }

    func write(
        context: ChannelHandlerContext,
        data: NIOAny,
        promise: EventLoopPromise<Void>?
    ) {
        let part = unwrapOutboundIn(data)
        guard case .end = part else {
            guard isLast, openCount == 1, case .head(var head) = part else {
                return context.write(data, promise: promise)
            }
            head.headerFields[.connection] = "close"
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        }
        let written = promise ?? context.eventLoop.makePromise()
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        // Until then it does not give way: the response would be cut.
        written.futureResult.whenSuccess {
            let (handler, context) = bound.value
            if handler.isLast, handler.openCount <= 1 { return context.close(promise: nil) }
            // What could not be read is answered without having been a request.
            handler.openCount = max(0, handler.openCount - 1)
            // A connection whose requests are all answered waits for the next.
            if handler.openCount == 0 { handler.seat.waitForHead() }
        }
        context.write(data, promise: written)
    }
}

extension HTTPRequest {
    /// Whether the head names its host once.
    var hasOneHost: Bool { authority != nil && headerFields[.furtherHost] == nil }

    /// Whether the head asks for another protocol, which is not spoken here: the parser reads nothing behind it.
    fileprivate var asksForUpgrade: Bool {
        headerFields[.upgrade] != nil
            && headerFields[.connection]?.lowercased().contains("upgrade") == true
    }
}
