import Encodings
package import Entitlements
import JWTKit

/// The public keys of whoever issues tokens: an operator's backend, or Google.
package struct TokenKeys: Sendable {
    private let entries: [Entry]

    private struct Entry: Sendable {
        var id: String?
        var algorithm: Algorithm
        var verifier: any JWTAlgorithm
    }

    /// The algorithms that are known (RFC 7518, RFC 8037).
    package enum Algorithm: String, Sendable {
        case es256 = "ES256"
        case edDSA = "EdDSA"
        case rs256 = "RS256"
    }

    /// What customers' tokens may be signed by.
    package static let customers: Set<Algorithm> = [.es256, .edDSA]
    /// What Google signs by (cloud.google.com/pubsub/docs/authenticate-push-subscriptions).
    package static let google: Set<Algorithm> = [.rs256]

    /// Keys that may be given at most: a token without `kid` is held against each.
    package static let keyLimit = 16
    /// Bytes that the text may have at most.
    package static let byteLimit = 65_536

    /// Reads a JWK set (RFC 7517, section 5), certificates in PEM by their key ids, or public keys in
    /// PEM, one after the other.
    ///
    /// Keys of the set for other algorithms or uses are passed over, as the RFC wants it.
    /// - Throws: `InputFault`, with the word of a `Reason`: nothing usable, too many, a private or secret key.
    package init(
        _ text: String,
        for algorithms: Set<Algorithm> = customers
    ) async throws(InputFault) {
        guard text.utf8.count <= Self.byteLimit else { throw Self.fault(.tooLarge) }
        let isJSON = text.utf8.first { !Self.space.contains($0) } == UInt8(ascii: "{")
        let found = (isJSON ? try Self.keys(json: text) : try Self.keys(pem: text))
            .filter { algorithms.contains($0.material.algorithm) }
        guard !found.isEmpty else { throw Self.fault(.noUsableKey) }
        guard found.count <= Self.keyLimit else { throw Self.fault(.tooMany) }
        var entries: [Entry] = []
        for key in found { entries.append(try await key.entry()) }
        self.entries = entries
    }

    /// The verifiers that a token's header may mean: those of its `kid`, else those without one.
    func candidates(_ algorithm: Algorithm, keyID: String?) -> [any JWTAlgorithm] {
        let fitting = entries.filter { $0.algorithm == algorithm }
        guard let keyID else { return fitting.map(\.verifier) }
        let named = fitting.filter { keyID.isSame(as: $0.id) }
        return (named.isEmpty ? fitting.filter { $0.id == nil } : named).map(\.verifier)
    }

    private static let space = Set(" \t\r\n".utf8)

    /// A key as JWTKit reads it.
    private struct Key {
        var id: String?
        var material: Material

        enum Material {
            case es256(ES256PublicKey)
            case edDSA(EdDSA.PublicKey)
            /// At least 2 048 bits: JWTKit reads no shorter ones.
            case rs256(Insecure.RSA.PublicKey)

            var algorithm: Algorithm {
                switch self {
                case .es256: .es256
                case .edDSA: .edDSA
                case .rs256: .rs256
                }
            }
        }

        /// JWTKit hands out its verifiers through a collection only.
        func entry() async throws(InputFault) -> Entry {
            let collection = JWTKeyCollection()
            switch material {
            case .es256(let key): await collection.add(ecdsa: key)
            case .edDSA(let key): await collection.add(eddsa: key)
            case .rs256(let key): await collection.add(rsa: key, digestAlgorithm: .sha256)
            }
            guard let verifier = try? await collection.getKey() else {
                throw TokenKeys.fault(.noUsableKey)
            }
            return Entry(id: id, algorithm: material.algorithm, verifier: verifier)
        }
    }

    private static func keys(pem text: String) throws(InputFault) -> [Key] {
        let marker = "-----BEGIN "
        var keys: [Key] = []
        var rest = text[...]
        while let start = rest.firstRange(of: marker) {
            let after = rest[start.upperBound...]
            let end = after.firstRange(of: marker)?.lowerBound ?? after.endIndex
            let block = marker + after[..<end]
            rest = after[end...]
            guard !block.prefix(while: { $0 != "\n" }).contains("PRIVATE") else {
                throw Self.fault(.privateKey)
            }
            // Of two kinds at most one reads the block; one that neither reads is refused.
            if let key = try? ES256PublicKey(pem: block) {
                keys.append(Key(material: .es256(key)))
            } else if let key = try? EdDSA.PublicKey(pem: block) {
                keys.append(Key(material: .edDSA(key)))
            } else {
                throw Self.fault(.malformed)
            }
        }
        return keys
    }

    private static func keys(json text: String) throws(InputFault) -> [Key] {
        guard let json = try? JSONValue(parsing: Array(text.utf8)) else {
            throw Self.fault(.malformed)
        }
        guard let list = ObjectReader(json).value("keys")?.array else {
            return try keys(certificates: json)
        }
        var keys: [Key] = []
        for jwk in list.map(WebKey.init) {
            guard !jwk.isSecret else { throw Self.fault(.privateKey) }
            guard ["sig", nil].contains(jwk.use), let found = try key(jwk) else { continue }
            keys.append(Key(id: jwk.id, material: found))
        }
        return keys
    }

    /// Google's older form: `{"KEY_ID":"-----BEGIN CERTIFICATE-----…"}`.
    private static func keys(certificates json: JSONValue) throws(InputFault) -> [Key] {
        guard let members = json.members, !members.isEmpty else { throw Self.fault(.malformed) }
        var keys: [Key] = []
        for member in members {
            guard let pem = member.value.string,
                let key = try? Insecure.RSA.PublicKey(certificatePEM: pem)
            else { throw Self.fault(.malformed) }
            keys.append(Key(id: member.name, material: .rs256(key)))
        }
        return keys
    }

    /// The key of a JWK; nil if it is of another kind.
    private static func key(_ jwk: WebKey) throws(InputFault) -> Key.Material? {
        switch (jwk.type, jwk.curve) {
        case ("EC", "P-256") where [nil, Algorithm.es256.rawValue].contains(jwk.algorithm):
            guard let x = jwk.x, let y = jwk.y,
                let key = try? ES256PublicKey(parameters: (x, y))
            else { throw Self.fault(.malformed) }
            return .es256(key)
        case ("OKP", "Ed25519") where [nil, Algorithm.edDSA.rawValue].contains(jwk.algorithm):
            guard let x = jwk.x, let key = try? EdDSA.PublicKey(x: x, curve: .ed25519) else {
                throw Self.fault(.malformed)
            }
            return .edDSA(key)
        case ("RSA", _) where [nil, Algorithm.rs256.rawValue].contains(jwk.algorithm):
            // One that is too short is passed over like one of another kind.
            guard let modulus = jwk.modulus, let exponent = jwk.exponent,
                let key = try? Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent)
            else { return nil }
            return .rs256(key)
        default: return nil
        }
    }

    /// Why the keys cannot be used; holds nothing of them.
    package enum Reason: String, Sendable {
        /// Neither a JWK set nor public keys in PEM.
        case malformed
        /// A private or secret key, which does not belong here.
        case privateKey = "private_key"
        /// No key in it for an algorithm that is taken.
        case noUsableKey = "no_usable_key"
        /// More than 16.
        case tooMany = "too_many"
        /// More than 64 KiB.
        case tooLarge = "too_large"
    }

    private static func fault(_ reason: Reason) -> InputFault {
        InputFault(.malformed, "", reason.rawValue)
    }
}

/// A key of a set (RFC 7517, section 4), as far as keys are told apart here.
private struct WebKey {
    let id, use, type, algorithm, curve, x, y, modulus, exponent: String?
    /// Whether it holds what must never leave its owner: `d` or `k` (RFC 7518, section 6).
    let isSecret: Bool

    init(_ json: JSONValue) {
        let reader = ObjectReader(json)
        id = reader.understood("kid")
        use = reader.understood("use")
        type = reader.understood("kty")
        algorithm = reader.understood("alg")
        curve = reader.understood("crv")
        x = reader.understood("x")
        y = reader.understood("y")
        modulus = reader.understood("n")
        exponent = reader.understood("e")
        isSecret = reader.value("d") != nil || reader.value("k") != nil
    }
}
