import AsyncHTTPClient
import Encodings
import NIOCore
import NIOHTTP1
import Stores

/// Reads the keys that an issuer publishes at an address.
enum IssuerKeysTransport {
    private static let timeout = TimeAmount.seconds(5)

    /// The keys, and how long they may be kept; nil: the address is away, slow or odd.
    static func fetch(_ address: String) async -> IssuerKeys.Fetched? {
        // Why there is no answer makes no difference to who asked.
        guard
            let answer = try? await HTTPClient.shared.execute(
                HTTPClientRequest(url: address),
                timeout: timeout
            ), answer.status == .ok,
            let body = try? await answer.body.collect(upTo: TokenKeys.byteLimit)
        else { return nil }
        return IssuerKeys.Fetched(
            text: String(buffer: body),
            lifetime: lifetime(answer.headers[canonicalForm: "cache-control"])
        )
    }

    /// Seconds that an answer stays fresh (RFC 9111, section 5.2.2.1); nil: it is not said.
    private static func lifetime(_ directives: [Substring]) -> Int64? {
        for directive in directives {
            let parts = directive.lowercased().split(separator: "=", maxSplits: 1)
            if parts.count == 2, parts[0] == "max-age" { return Int64(parts[1]) }
        }
        return nil
    }
}

extension PlayPushVerifier {
    /// The verifier as it is configured; nil: no pushes are.
    ///
    /// `before`: the one until now, whose keys count until newer ones are there where they come from the same
    /// address.
    init?(_ identity: PlayPushIdentity?, before: PlayPushVerifier? = nil) {
        guard let identity else { return nil }
        if let before, before.keysURL == identity.keysURL {
            self.init(identity, keys: before.keys)
            return
        }
        let keys = IssuerKeys(for: TokenKeys.google) {
            await IssuerKeysTransport.fetch(identity.keysURL)
        }
        self.init(identity, keys: keys)
    }
}
