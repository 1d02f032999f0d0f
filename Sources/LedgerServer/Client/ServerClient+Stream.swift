import AsyncHTTPClient
import LedgerOperations
import NIOCore
import NIOHTTP1

extension ServerClient {
    /// Lends what a server answers, as it comes, however long it is.
    ///
    /// - Throws: `OperationFault` where it answers with a problem, not at all, or not to the end; what the
    ///   body throws.
    package func stream(_ call: ServerCall, _ body: ([UInt8]) throws -> Void) async throws {
        let answer = try await begin(call)
        guard (200..<300).contains(answer.status.code) else {
            throw OperationFault(
                answered: try await bytes(of: answer, call),
                status: Int(answer.status.code)
            )
        }
        var pieces = answer.body.makeAsyncIterator()
        while true {
            let piece: ByteBuffer?
            do {
                piece = try await pieces.next()
            } catch {
                throw OperationFault(
                    .unreachable,
                    "the server did not answer to the end",
                    hint: "ask again; its log may say why"
                )
            }
            guard let piece else { return }
            try body(Array(piece.readableBytesView))
        }
    }
}
