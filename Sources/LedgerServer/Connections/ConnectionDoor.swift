import NIOCore

/// Stands before the encryption of a connection: counts it from its first byte, and closes one on which no
/// request begins in time, or that HTTP/2 has left idle and its client does not let go.
///
/// Whether HTTP/1.1 or HTTP/2 is spoken shows behind the handshake. Then `ConnectionPlace` counts: a
/// connection of HTTP/1.1 in this one's stead, of HTTP/2 each stream beside it.
final class ConnectionDoor: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let limits: RequestDeadline.Limits
    private var seat: ConnectionSeat
    private var phase = Phase.handshake
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    /// Streams that are open.
    private var streamCount = 0
    /// When the server, which ends, takes no more streams; nil: it does not end.
    private var lastStreams: NIODeadline?

    private enum Phase {
        /// No request began.
        case handshake
        /// HTTP/2 is spoken.
        case streams
        /// Another handler looks after it.
        case handedOver
    }

    init(_ connections: Connections, _ limits: RequestDeadline.Limits) {
        seat = ConnectionSeat(connections)
        self.limits = limits
    }

    /// Somebody else counts this connection from now on.
    func handOver() {
        phase = .handedOver
        leave()
    }

    /// A stream begins, which is counted by itself: nothing is waited for while one is open; false: the
    /// server ends, and takes no more.
    func streamBegins() -> Bool {
        if let lastStreams, let context, lastStreams < context.eventLoop.now { return false }
        phase = .streams
        stopTimer()
        streamCount += 1
        seat.endWait()
        return true
    }

    /// A stream ended; behind the last one the connection waits for the next.
    func streamEnded() {
        streamCount -= 1
        guard streamCount == 0, seat.isTaken else { return }
        seat.waitForHead()
        // Who is asked to end and does not say that it heard it would stay for ever.
        close(in: lastStreams == nil ? limits.pause + limits.linger : limits.linger)
    }

    private func enter(_ context: ChannelHandlerContext) {
        guard !seat.isTaken, phase == .handshake else { return }
        guard seat.take(context.channel, as: .connection) else {
            context.close(promise: nil)
            return
        }
        close(in: limits.head)
    }

    private func leave() {
        stopTimer()
        seat.leave()
    }

    /// Closes the connection, the encryption passed by, unless it is used before.
    private func close(in limit: TimeAmount) {
        stopTimer()
        guard let context else { return }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: limit) { bound.value.close(promise: nil) }
    }

    private func stopTimer() {
        timer?.cancel()
        timer = nil
    }

    private func serverEnds(_ context: ChannelHandlerContext) {
        switch phase {
        case .handedOver: break
        // Within a handshake there is nobody yet who ends a connection when the server stops.
        case .handshake: context.close(promise: nil)
        case .streams:
            // What is on its way is answered.
            lastStreams = context.eventLoop.now + limits.linger
            if streamCount == 0 { close(in: limits.linger) }
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { enter(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        enter(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { serverEnds(context) }
        context.fireUserInboundEventTriggered(event)
    }
}
