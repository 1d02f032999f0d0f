import NIOCore

/// Stands before the encryption of a connection: counts it from its first byte, and closes one on which no
/// request begins in time.
///
/// Whether HTTP/1.1 or HTTP/2 is spoken shows behind the handshake. Then `ConnectionPlace` counts: a
/// connection of HTTP/1.1 in this one's stead, of HTTP/2 each stream beside it.
final class ConnectionDoor: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let connections: Connections
    private let headLimit: TimeAmount
    private var address: IPAddress?
    private var isIn = false
    private var wait: Connections.Wait?
    private var giveWay: Connections.GiveWay = {}
    private var timer: Scheduled<Void>?
    /// Whether a request began, or the connection was handed over.
    private var hasBegun = false
    /// Streams that are open.
    private var streamCount = 0

    /// `headLimit`: from the connection to its first request.
    init(_ connections: Connections, headLimit: TimeAmount) {
        self.connections = connections
        self.headLimit = headLimit
    }

    /// Somebody else counts this connection from now on.
    func handOver() {
        begin()
        leave()
    }

    /// A stream began, which is counted by itself: nothing is waited for while one is open.
    func streamBegan() {
        begin()
        streamCount += 1
        endWait()
    }

    /// A stream ended; behind the last one the connection waits for the next.
    func streamEnded() {
        streamCount -= 1
        guard isIn, wait == nil, streamCount == 0 else { return }
        wait = connections.waitForHead(giveWay)
    }

    private func begin() {
        hasBegun = true
        timer?.cancel()
        timer = nil
    }

    private func enter(_ context: ChannelHandlerContext) {
        guard !isIn, !hasBegun else { return }
        let close: @Sendable () -> Void = { [channel = context.channel] in
            channel.close(promise: nil)
        }
        address = context.channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
        guard connections.enter(address) else {
            context.close(promise: nil)
            return
        }
        isIn = true
        giveWay = close
        wait = connections.waitForHead(giveWay)
        timer = context.eventLoop.scheduleTask(in: headLimit, close)
    }

    private func leave() {
        endWait()
        timer?.cancel()
        timer = nil
        giveWay = {}
        guard isIn else { return }
        isIn = false
        connections.leave(address)
    }

    private func endWait() {
        if let wait { connections.endWait(wait) }
        wait = nil
    }

    func handlerAdded(context: ChannelHandlerContext) {
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

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Within a handshake there is nobody yet who ends a connection when the server stops.
        if event is ChannelShouldQuiesceEvent, !hasBegun { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }
}
