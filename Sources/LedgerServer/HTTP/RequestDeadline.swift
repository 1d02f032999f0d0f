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
        /// From a full send buffer to room in it.
        var response: TimeAmount = .seconds(30)
        /// Without any part of an exchange; nothing but a last resort.
        var idle: TimeAmount = .seconds(75)
        /// How often it is looked.
        var interval: TimeAmount = .seconds(1)
    }

    private let limits: Limits
    private var arrival: NIODeadline?
    private var departure: NIODeadline?
    private var timer: RepeatedTask?
    /// Whether the request that comes in has its response already, one that is too large say.
    private var isAnswered = false

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
            isAnswered = false
            arrival = .now() + limits.body
        case .body: break
        case .end: arrival = isAnswered ? .now() + limits.pause : nil
        }
        context.fireChannelRead(data)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        departure = context.channel.isWritable ? nil : .now() + limits.response
        context.fireChannelWritabilityChanged()
    }

    func write(
        context: ChannelHandlerContext,
        data: NIOAny,
        promise: EventLoopPromise<Void>?
    ) {
        if case .end = unwrapOutboundIn(data) {
            isAnswered = true
            arrival = .now() + limits.pause
        }
        context.write(data, promise: promise)
    }
}
