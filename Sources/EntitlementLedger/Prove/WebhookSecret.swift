import Crypto
import Encodings
import EventLog

/// What a receiver of webhooks knows them by (Standard Webhooks 1.0.0).
///
/// Each is derived from the key of the ledger's checkpoints by HMAC-SHA-256 (NIST SP 800-108r1), so that no
/// secret stands among what waits to be delivered, and whoever learns one knows no other.
package struct WebhookSecret: Sendable {
    private let key: [UInt8]

    init(_ key: [UInt8]) { self.key = key }

    init(_ number: UInt64, of endpoint: String, _ ledgerKey: Curve25519.Signing.PrivateKey) {
        key = Array(
            HMAC<SHA256>.authenticationCode(
                for: Array("entitlement-ledger/webhook/\(endpoint)/\(number)".utf8),
                using: SymmetricKey(data: ledgerKey.rawRepresentation)
            )
        )
    }

    /// As receivers take it.
    package var text: String { "whsec_" + Base64.encode(key.span) }

    /// The signature of a message that is sent at a second since 1970.
    package func signature(of body: [UInt8], id: String, at seconds: Int64) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(id).\(seconds).".utf8) + body,
            using: SymmetricKey(data: key)
        )
        return "v1," + Base64.encode(Array(code).span)
    }
}

extension Prover {
    /// A secret of an endpoint: each that it is given has a number.
    ///
    /// - Throws: `LogStorageFault` where the ledger's key is not at hand.
    package func webhookSecret(_ number: UInt64, of endpoint: String) throws -> WebhookSecret {
        WebhookSecret(number, of: endpoint, try opened.whole.checkpointKey)
    }
}
