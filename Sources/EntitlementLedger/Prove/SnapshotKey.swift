import Crypto
package import Encodings
package import Entitlements
import EventLog

/// A key that signs what customers are entitled to, for a stretch of time (row Z10).
///
/// Each is derived from the key of the ledger's checkpoints by HMAC-SHA-256 (NIST SP 800-108r1), so that nothing more is kept,
/// backed up or rotated by hand, and whoever learns one knows no other.
package struct SnapshotKey: Sendable {
    /// Which stretch of time, from 1970 on.
    package let number: Int64
    private let key: Curve25519.Signing.PrivateKey

    /// Milliseconds for which one signs.
    package static let period = 90 * Instant.millisecondsPerDay
    /// How many of those that will sign are told, and of those that did: an app that was made with them knows them
    /// for two years, and whoever pins them anew still knows what was signed two years ago.
    package static let toldCount: Int64 = 8

    init(_ number: Int64, of ledgerKey: Curve25519.Signing.PrivateKey) throws {
        self.number = number
        let derived = HMAC<SHA256>.authenticationCode(
            for: Array("entitlement-ledger/snapshot/\(number)".utf8),
            using: SymmetricKey(data: ledgerKey.rawRepresentation)
        )
        key = try Curve25519.Signing.PrivateKey(rawRepresentation: Array(derived))
    }

    /// The key's name: its thumbprint (RFC 7638).
    package var id: String {
        Base64.encode(Array(SHA256.hash(data: Array(thumbprinted.description.utf8))).span, .url)
    }

    /// The public key as others take it (RFC 8037).
    package var publicJSON: JSONValue {
        .object(
            (thumbprinted.members ?? []) + [
                JSONMember("alg", "EdDSA"), JSONMember("use", "sig"),
                JSONMember("kid", .string(id)),
            ]
        )
    }

    /// The members of which a thumbprint is made, in their order.
    private var thumbprinted: JSONValue {
        .members([
            "crv": "Ed25519", "kty": "OKP",
            "x": .string(Base64.encode(Array(key.publicKey.rawRepresentation).span, .url)),
        ])
    }

    /// Claims, signed (RFC 7515, the compact form).
    ///
    /// `type`: what they are (`typ`, RFC 8725, section 3.11).
    package func signed(_ claims: [UInt8], as type: String) throws -> String {
        let header = JSONValue.members([
            "alg": "EdDSA", "kid": .string(id), "typ": .string(type),
        ])
        let text = [Array(header.description.utf8), claims]
            .map { Base64.encode($0.span, .url) }.joined(separator: ".")
        let signature = Array(try key.signature(for: Array(text.utf8)))
        return text + "." + Base64.encode(signature.span, .url)
    }
}

extension Prover {
    /// The key that signs snapshots at an instant.
    ///
    /// - Throws: `LogStorageFault` where the ledger's key is not at hand.
    package func snapshotKey(at instant: Instant) throws -> SnapshotKey {
        try SnapshotKey(
            instant.milliseconds / SnapshotKey.period,
            of: opened.whole.checkpointKey
        )
    }

    /// The keys by which snapshots are verified at an instant: those before, since what a device has kept counts
    /// however long it was offline (row Z17), the present one, and the next ones, so that who has kept or pinned
    /// them knows them in time.
    ///
    /// - Throws: `LogStorageFault` where the ledger's key is not at hand.
    package func snapshotKeys(at instant: Instant) throws -> [SnapshotKey] {
        let present = instant.milliseconds / SnapshotKey.period
        let key = try opened.whole.checkpointKey
        // Fits: periods of 90 days.
        return try (present - SnapshotKey.toldCount...present + SnapshotKey.toldCount)
            .map { try SnapshotKey($0, of: key) }
    }
}
