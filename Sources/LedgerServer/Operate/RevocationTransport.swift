import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// Carries questions on revoked certificates to their authority's responder (RFC 6960, appendix A).
package enum RevocationTransport {
    /// Bytes of an answer.
    private static let byteLimit = 64 << 10
    private static let timeout = TimeAmount.seconds(3)

    /// The responder's answer; nil if it is away, slow or odd: nobody waits for it then.
    @Sendable
    package static func ask(_ request: [UInt8], _ responder: String) async -> [UInt8]? {
        guard responder.hasPrefix("http://") || responder.hasPrefix("https://") else { return nil }
        var call = HTTPClientRequest(url: responder)
        call.method = .POST
        call.headers.add(name: "Content-Type", value: "application/ocsp-request")
        call.body = .bytes(ByteBuffer(bytes: request))
        // Why there is no answer makes no difference to who asked.
        guard let answer = try? await HTTPClient.shared.execute(call, timeout: timeout),
            answer.status == .ok,
            let body = try? await answer.body.collect(upTo: byteLimit)
        else { return nil }
        return Array(body.readableBytesView)
    }
}
