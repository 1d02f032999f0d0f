import Crypto
import Encodings
public import LedgerAPI

/// The keys by which snapshots are verified: the Ed25519 keys of a JWK set (RFC 7517, RFC 8037).
public struct TrustedKeys: Sendable {
    /// By `kid`.
    private(set) var keys: [Name: Curve25519.Signing.PublicKey] = [:]

    /// Bytes that a set may have.
    static let byteLimit = 64 << 10
    /// Keys of a set that are read.
    static let countLimit = 64

    /// Reads a set, such as `/.well-known/jwks.json` of the server.
    ///
    /// Other keys than Ed25519's for signatures are passed over, as are members that are not known.
    /// - Throws: `ServiceError`: `DECODING_ERROR` for what is no set, `KEY_NOT_FOUND` for a set
    ///   without a key that counts. Cost: linear in the text, of which 64 KiB may be.
    public init(jwks text: String) throws(ServiceError) {
        try self.init(Array(text.utf8))
    }

    init(_ bytes: [UInt8]) throws(ServiceError) {
        // What is no JSON has no keys either.
        guard bytes.count <= Self.byteLimit, let json = try? JSONValue(parsing: bytes),
            let keys = json["keys"]?.array
        else { throw ServiceError(.decodingError) }
        for key in keys.prefix(Self.countLimit) {
            guard let (id, key) = Self.key(key), self.keys[id] == nil else { continue }
            self.keys[id] = key
        }
        guard !self.keys.isEmpty else { throw ServiceError(.keyNotFound, isRetryable: false) }
    }

    private static func key(_ json: JSONValue) -> (Name, Curve25519.Signing.PublicKey)? {
        guard json["kty"]?.string == "OKP", json["crv"]?.string == "Ed25519",
            json["alg"].map({ $0.string == "EdDSA" || $0.string == "Ed25519" }) ?? true,
            json["use"].map({ $0.string == "sig" }) ?? true,
            let id = json["kid"]?.string, !id.isEmpty,
            let bytes = json["x"]?.string.flatMap({ Base64.decode($0, .url) })
        else { return nil }
        // What is no key of the curve is passed over as other keys are.
        return (try? Curve25519.Signing.PublicKey(rawRepresentation: bytes)).map { (Name(id), $0) }
    }

    /// The set as it is kept, keys by their names.
    var json: JSONValue {
        .members([
            "keys": .array(
                keys.sorted { $0.key < $1.key }.map { id, key in
                    .members([
                        "crv": "Ed25519", "kty": "OKP",
                        "x": .string(Base64.encode(Array(key.rawRepresentation).span, .url)),
                        "alg": "EdDSA", "use": "sig", "kid": .string(id.text),
                    ])
                }
            )
        ])
    }

    /// These and others, which are older: what was signed by a key that a server publishes no more
    /// still counts for whom is offline for long (row Z17).
    func joined(with older: TrustedKeys?) -> TrustedKeys {
        var all = self
        for (id, key) in (older?.keys ?? [:]).sorted(by: { $0.key < $1.key })
        where all.keys[id] == nil && all.keys.count < Self.countLimit {
            all.keys[id] = key
        }
        return all
    }
}
