import HTTPTypes
import HummingbirdCore
import LedgerAPI
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Answers what cannot be read as a request of HTTP/1 with a problem document, as every error is answered (RFC 9457).
///
/// Hummingbird answers it, when its turn has come, with a bare status. That answer gets its document here, and
/// does not go out where the request that it is about has one already.
final class UnreadableRequests: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let service: LedgerService
    /// Why nothing more can be read; nil: all could be.
    private var fault: HTTPParserError?
    /// Whether a request was handed on whose response is not out.
    private var isAnswering = false
    /// Whether the body of a request is not all there yet.
    private var isArriving = false

    init(_ service: LedgerService) { self.service = service }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            isAnswering = true
            isArriving = true
        case .body: break
        case .end: isArriving = false
        }
        context.fireChannelRead(data)
    }

    /// It is passed on: whoever reads the body of a request learns there that it does not arrive whole.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if fault == nil { fault = error as? HTTPParserError }
        context.fireErrorCaught(error)
    }

    func write(
        context: ChannelHandlerContext,
        data: NIOAny,
        promise: EventLoopPromise<Void>?
    ) {
        let part = unwrapOutboundIn(data)
        if let fault, !isAnswering { return write(part, of: fault, context, promise) }
        if case .end = part { isAnswering = false }
        // Behind a broken body there is no other request.
        guard fault != nil, isArriving, case .head(var head) = part,
            head.status.kind != .informational
        else { return context.write(data, promise: promise) }
        head.headerFields[.connection] = "close"
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    /// Writes a part of an answer to no request.
    private func write(
        _ part: HTTPResponsePart,
        of fault: HTTPParserError,
        _ context: ChannelHandlerContext,
        _ promise: EventLoopPromise<Void>?
    ) {
        guard isOwed(fault) else {
            promise?.succeed()
            return
        }
        guard case .head = part else {
            return context.write(wrapOutboundOut(part), promise: promise)
        }
        let answer = service.answer(unreadable: fault)
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        context.write(wrapOutboundOut(.body(answer.body)), promise: promise)
    }

    /// Whether it is told of: a request whose body broke has its answer, and what stands behind a last request
    /// is none (RFC 9112, section 9.6).
    private func isOwed(_ fault: HTTPParserError) -> Bool {
        if case .closedConnection = fault { return false }
        return !isArriving
    }
}

extension LedgerService {
    /// The answer to what cannot be read as a request: the last on its connection, logged and counted as others
    /// are.
    fileprivate func answer(
        unreadable fault: HTTPParserError
    ) -> (head: HTTPResponse, body: ByteBuffer) {
        let (problem, id) = (Problem(unreadable: fault), makeID())
        // In what language they read could not be read.
        var answer = problem.answer(language: .english, requestID: id)
        answer.headers[.requestID] = id
        answer.headers[.connection] = "close"
        answer.headers[.date] = clock().httpDate
        metrics.count(nil, status: answer.status, duration: .zero)
        logger.info(
            "request",
            metadata: [
                "requestId": "\(id)", "operation": "none", "method": "-",
                "status": "\(answer.status)", "code": "\(problem.code.rawValue)",
                "caller": "\(Caller.anonymous.label)",
            ]
        )
        return (answer.response(isHead: false).head, ByteBuffer(bytes: answer.body))
    }
}

extension Problem {
    /// What is told of what cannot be read as a request: nothing of what was sent.
    ///
    /// An unknown method is 400, not 501, and another version not 505: to the parser bytes that are no request
    /// at all are one of the two, and 5xx is for what may succeed when it is sent again (Stores, rule 10).
    fileprivate init(unreadable fault: HTTPParserError) {
        switch fault {
        case .headerOverflow:
            self.init(
                .headTooLarge,
                "a head has at most \(LedgerServer.headByteLimit) bytes, and "
                    + "\(LedgerServer.headerFieldLimit) fields"
            )
        case .invalidMethod: self.init(.invalidRequest, "its method is none that is known")
        case .invalidVersion: self.init(.invalidRequest, "its version of HTTP is not spoken here")
        default: self.init(.invalidRequest, "it cannot be read as a request of HTTP")
        }
    }
}
