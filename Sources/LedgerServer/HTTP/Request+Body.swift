import HTTPTypes
import Hummingbird
import LedgerAPI
import NIOCore
import NIOHTTPTypes

extension Request {
    /// The body, up to a limit, within the room that all bodies have together.
    ///
    /// Whoever waits to be told so is told to send it: the head was admitted (RFC 9110, section
    /// 10.1.1).
    func bytes(
        upTo limit: Int,
        in room: BodyBudget.Room,
        on channel: any Channel
    ) async throws -> [UInt8] {
        let tooLarge = Problem(.tooLarge, "the body has at most \(limit) bytes")
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit {
            throw tooLarge
        }
        if let type = headers[.contentType], !Self.isJSON(type) {
            throw Problem(.unsupportedMediaType, "expected application/json")
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

    /// JSON under any of its names, and what curl and others say of a body unless they are told.
    private static func isJSON(_ type: String) -> Bool {
        let essence = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        return essence == "application/json" || essence.hasSuffix("+json")
            || essence == "application/x-www-form-urlencoded"
    }
}
