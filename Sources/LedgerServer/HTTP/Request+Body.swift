import HTTPTypes
import Hummingbird
import LedgerAPI
import NIOCore
import NIOHTTPTypes

extension Request {
    /// Refuses a body that was coded for its way: it is read as it stands.
    ///
    /// `told`: gets what the answer says beside the refusal.
    func requirePlainBody(_ told: inout HTTPFields) throws(Problem) {
        if let coding = headers[.contentEncoding], coding.lowercased() != "identity" {
            // So that nobody takes it for a matter of media types (RFC 9110, section 12.5.3).
            told[.acceptEncoding] = "identity"
            throw Problem(.unsupportedMediaType, "a body is taken without a Content-Encoding")
        }
        // HTTP itself undoes no other (RFC 9112, section 6.1).
        if let coding = headers[.transferEncoding], coding.lowercased() != "chunked" {
            throw Problem(.invalidRequest, "the one Transfer-Encoding that is taken is chunked")
        }
    }

    /// The body, up to its limit, within the room that all bodies have together.
    ///
    /// Whoever waits to be told so is told to send it: the head was admitted (RFC 9110, section
    /// 10.1.1).
    func bytes(
        of expected: Route.Body,
        in room: BodyBudget.Room,
        on channel: any Channel
    ) async throws -> [UInt8] {
        let limit = expected.byteLimit
        let tooLarge = Problem(.tooLarge, "the body has at most \(limit) bytes")
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw tooLarge
        }
        if let type = headers[.contentType], !expected.takes(type) {
            let types = ["application/json"] + expected.lineTypes
            throw Problem(.unsupportedMediaType, "expected " + types.joined(separator: " or "))
        }
        let crowded = Problem(.busy, "too many bodies arrive at once", retryAfter: 1)
        var bytes: [UInt8] = []
        do {
            if headers[.expect]?.lowercased() == "100-continue" {
                let head = HTTPResponse(status: .continue)
                try await channel.writeAndFlush(HTTPResponsePart.head(head))
            }
            for try await chunk in body {
                guard chunk.readableBytes <= limit - bytes.count else { throw tooLarge }
                guard room.take(chunk.readableBytes) else { throw crowded }
                bytes.append(contentsOf: chunk.readableBytesView)
            }
        } catch let problem as Problem {
            throw problem
        } catch let error where !(error is CancellationError) {
            // Broken chunks, or a client that is gone: nothing of ours failed.
            throw Problem(.invalidRequest, "the body does not arrive whole")
        }
        guard room.settle() else { throw crowded }
        return bytes
    }
}

extension Route.Body {
    /// JSON under any of its names, lines of it where those are taken, and what curl and others say
    /// of a body unless they are told.
    fileprivate func takes(_ type: String) -> Bool {
        let essence = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        return essence == "application/json" || essence.hasSuffix("+json")
            || essence == "application/x-www-form-urlencoded" || lineTypes.contains(essence)
    }
}
