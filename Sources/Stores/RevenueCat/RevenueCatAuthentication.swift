import Crypto
import Encodings
public import Entitlements

/// What RevenueCat proves itself with: the authorization header that its dashboard was given, or
/// an HMAC over the body, or both (Stores, rule 4).
///
/// The HMAC stands in `X-RevenueCat-Webhook-Signature` as `t=SECONDS,v1=HEX`, over `t`, a point and
/// the raw body; while a secret is being replaced there are several `v1`.
public struct RevenueCatAuthentication: Sendable {
    private let authorization: [UInt8]?
    private let hmacSecret: SymmetricKey?

    /// How far the header's time may lie from ours.
    package static let toleranceMilliseconds: Int64 = 300_000
    /// Bytes of a signature header.
    package static let headerByteLimit = 4096

    /// Takes the secrets; nil if there is none.
    public init?(authorization: [UInt8]?, hmacSecret: [UInt8]?) {
        guard authorization != nil || hmacSecret != nil else { return nil }
        self.authorization = authorization
        self.hmacSecret = hmacSecret.map { SymmetricKey(data: $0) }
    }

    /// Whether a request is RevenueCat's: every secret that is configured must be proven.
    ///
    /// `body`: nil while it is not read; then whether the request may be RevenueCat's by its head.
    /// In constant time with regard to the secrets.
    public func accepts(
        authorization: String?,
        signature: String?,
        body: [UInt8]?,
        now: Instant
    ) -> Bool {
        if let expected = self.authorization {
            guard let authorization, Self.areEqual(Array(authorization.utf8), expected) else {
                return false
            }
        }
        if let hmacSecret {
            guard let signature else { return false }
            if let body, !Self.holds(signature, hmacSecret, body, now) { return false }
        }
        return true
    }

    /// Digests are compared, so that neither length nor content is told by the time it takes.
    private static func areEqual(_ given: [UInt8], _ expected: [UInt8]) -> Bool {
        SHA256.hash(data: given) == SHA256.hash(data: expected)
    }

    private static func holds(
        _ header: String,
        _ secret: SymmetricKey,
        _ body: [UInt8],
        _ now: Instant
    ) -> Bool {
        guard header.utf8.count <= headerByteLimit else { return false }
        var time: Substring?
        var signatures: [[UInt8]] = []
        for part in header.split(separator: ",", omittingEmptySubsequences: false) {
            if part.hasPrefix("t=") {
                guard time == nil else { return false }
                time = part.dropFirst(2)
            } else if part.hasPrefix("v1=") {
                if let code = Hexadecimal.decode(String(part.dropFirst(3))),
                    code.count == SHA256.byteCount
                {
                    signatures.append(code)
                }
            }
        }
        guard let time, let seconds = Int64(time), (0...0xFFFF_FFFF).contains(seconds),
            // Fits: seconds of 32 bits.
            abs(seconds * 1000 - now.milliseconds) <= toleranceMilliseconds
        else { return false }
        let signed = Array((String(time) + ".").utf8) + body
        return signatures.contains {
            HMAC<SHA256>.isValidAuthenticationCode($0, authenticating: signed, using: secret)
        }
    }
}
