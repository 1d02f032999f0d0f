import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request does not arrive whole in time, however lively its bytes drip
/// (a slow sender), or that does not take its response (a slow reader).
///
/// An idle timeout cannot see this: each byte makes a connection lively. One timer a connection
/// looks at a deadline that the parts of an exchange move.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long the parts of an exchange may take.
    struct Limits: Sendable {
        /// From the connection to the end of the first request's head.
        var head: TimeAmount = .seconds(30)
        /// From a response to the end of the next request's head: longer than load balancers keep
        /// an idle connection, mostly a minute, so that they do not meet closed ones.
        var pause: TimeAmount = .seconds(65)
        /// From the head to the end of the body.
        var body: TimeAmount = .seconds(30)
        /// From a response, or room in a full send buffer, to the response being taken.
        var response: TimeAmount = .seconds(30)
        /// From our end of the connection to the client's: what it sends then is not read.
        var linger: TimeAmount = .seconds(2)
        /// Without any part of an exchange; nothing but a last resort.
        var idle: TimeAmount = .seconds(75)
        /// How often it is looked.
        var interval: TimeAmount = .seconds(1)
    }

    private let limits: Limits
    private var arrival: NIODeadline?
    private var departure: NIODeadline?
    private var timer: RepeatedTask?
    /// Requests whose head came and whose response is not out: a pipelined one waits for the others.
    private var openCount = 0
    /// Whether the body of a request is not all there yet.
    private var isArriving = false
    /// Whether a response is not out yet.
    private var isDeparting = false
    /// Whether nothing more goes out.
    private var isClosing = false

    init(_ limits: Limits) { self.limits = limits }

    private func start(_ context: ChannelHandlerContext) {
        guard timer == nil else { return }
        arrival = .now() + limits.head
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleRepeatedTask(
            initialDelay: limits.interval,
            delay: limits.interval
        ) { _ in
            let (handler, context) = bound.value
            handler.look(context)
        }
    }

    private func look(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        if arrival.map({ $0 < now }) ?? false || departure.map({ $0 < now }) ?? false {
            context.close(promise: nil)
        }
    }

    private func stop() {
        timer?.cancel()
        timer = nil
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { start(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    func channelActive(context: ChannelHandlerContext) {
        start(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            openCount += 1
            isArriving = true
            arrival = .now() + limits.body
        case .body: break
        case .end:
            isArriving = false
            // One that is too large say has its response already.
            arrival = openCount == 0 ? .now() + limits.pause : nil
        }
        context.fireChannelRead(data)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        // Room in the buffer is progress; a response that is out ends the wait.
        departure = context.channel.isWritable && !isDeparting ? nil : .now() + limits.response
        context.fireChannelWritabilityChanged()
    }

    func write(
        context: ChannelHandlerContext,
        data: NIOAny,
        promise: EventLoopPromise<Void>?
    ) {
        guard case .end = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        isDeparting = true
        departure = .now() + limits.response
        let written = promise ?? context.eventLoop.makePromise()
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        written.futureResult.whenSuccess { bound.value.responseIsOut() }
        context.write(data, promise: written)
    }

    func close(
        context: ChannelHandlerContext,
        mode: CloseMode,
        promise: EventLoopPromise<Void>?
    ) {
        if mode == .output {
            isClosing = true
            arrival = .now() + limits.linger
        }
        context.close(mode: mode, promise: promise)
    }

    private func responseIsOut() {
        isDeparting = false
        departure = nil
        // What could not be read is answered without having been a request.
        openCount = max(0, openCount - 1)
        // A request that was answered early, one that is too large say, is still to arrive in time; while
        // another is answered, nobody waits for the client.
        if openCount == 0, !isArriving, !isClosing { arrival = .now() + limits.pause }
    }
}
