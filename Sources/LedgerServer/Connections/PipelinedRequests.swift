import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Hands on a pipelined request only when the response before it is out.
///
/// A client that sends many requests and reads nothing would otherwise have them all answered into
/// our memory: backpressure comes too late where answers are made faster than they are written. So
/// a connection holds one response at most, and the requests of one read; where that read has more
/// of them than anybody asks at once, it is closed.
final class PipelinedRequests: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Parts of requests that came before the response to an earlier one was out.
    private var held = CircularBuffer<HTTPRequestPart>()
    /// Parts that are held at most: a head of 26 bytes takes up hundreds where it is held.
    private static let heldLimit = 1024
    /// Whether a request was handed on whose response is not out.
    private var isAnswering = false
    private var wantsToRead = false
    /// Why what came behind the requests that wait cannot be read; nil: it can be.
    private var fault: HTTPParserError?
    /// Whether the client has sent its last byte while requests wait.
    private var isEnded = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if held.isEmpty, mayPass(part) {
            handOn(part, context)
        } else if held.count < Self.heldLimit {
            held.append(part)
        } else {
            // What was read with it is dropped one by one.
            context.close(promise: nil)
        }
    }

    /// The end comes behind the requests that wait, else they would go unanswered.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? ChannelEvent, event == .inputClosed, !held.isEmpty {
            isEnded = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// What cannot be read has its turn behind the requests that wait, too.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !held.isEmpty else { return context.fireErrorCaught(error) }
        switch error {
        case let error as HTTPParserError: fault = error
        // It is told of all that comes behind it.
        case is ByteToMessageDecoderError: break
        default: context.fireErrorCaught(error)
        }
    }

    /// Nothing more is read from the connection while requests wait.
    func read(context: ChannelHandlerContext) {
        guard held.isEmpty else {
            wantsToRead = true
            return
        }
        context.read()
    }

    func write(
        context: ChannelHandlerContext,
        data: NIOAny,
        promise: EventLoopPromise<Void>?
    ) {
        guard case .end = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        let written = promise ?? context.eventLoop.makePromise()
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        // Where the write failed the connection is closed; nothing is handed on then.
        written.futureResult.whenSuccess {
            let (handler, context) = bound.value
            handler.responseIsOut(context)
        }
        context.write(data, promise: written)
    }

    private func mayPass(_ part: HTTPRequestPart) -> Bool {
        guard case .head = part else { return true }
        return !isAnswering
    }

    private func handOn(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        if case .head = part { isAnswering = true }
        context.fireChannelRead(wrapInboundOut(part))
    }

    private func responseIsOut(_ context: ChannelHandlerContext) {
        isAnswering = false
        guard !held.isEmpty else { return }
        while let part = held.first, mayPass(part) {
            held.removeFirst()
            handOn(part, context)
        }
        context.fireChannelReadComplete()
        guard held.isEmpty else { return }
        // A connection that waits for the next request keeps no room for many.
        held.removeAll()
        if let fault {
            self.fault = nil
            context.fireErrorCaught(fault)
        }
        if isEnded {
            isEnded = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if wantsToRead {
            wantsToRead = false
            context.read()
        }
    }
}
