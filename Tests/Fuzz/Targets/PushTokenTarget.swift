import Crypto
import Encodings
import Entitlements
import LedgerOperations
import LedgerServer
import StoreSimulator
import Stores

/// Who pushes: an input is what a token says otherwise than a good one does, beside the keys that it is held
/// against and how long those may be kept; or a token, or keys, as they came.
struct PushTokenTarget: MutatingFuzzTarget {
    private let store: SimulatedPlayStore
    private let identity: PlayPushIdentity
    /// The key of this process, which inputs call by a name, so that they are the same in every other.
    private let modulus: String
    private let samples: [JSONValue]
    private let pems: [String]
    let mutation: JSONMutation

    private static let now = Instant(milliseconds: 1_769_904_000_000)
    private static let modulusName = "MODULUS"

    init() throws {
        let store = try SimulatedPlayStore()
        self.store = store
        identity = PlayPushIdentity(audience: store.audience, serviceAccount: store.serviceAccount)
        let keys = try JSONValue(parsing: Array(store.keySet().utf8))
        guard let key = keys["keys"]?.array?.first, let modulus = key["n"]?.string else {
            throw NoKey()
        }
        self.modulus = modulus
        let signing = P256.Signing.PrivateKey().publicKey
        let named = key.setting("n", .string(Self.modulusName))
        let others = [Self.jwk(signing), Self.jwk(Curve25519.Signing.PrivateKey().publicKey)]
        let sets: [[JSONValue]] = [
            [named], [named.setting("kid", "2"), others[0]], others + [named],
        ]
        samples = sets.map { set in
            .members([
                "header": .object([]), "lifetime": .integer(3600),
                "claims": .members(["aud": .strings([store.audience])]),
                "keys": .members(["keys": .array(set)]),
            ])
        }
        pems = [signing.pemRepresentation + "\n" + signing.pemRepresentation]
        mutation = JSONMutation(
            wordsOf: samples,
            and: .members([
                "alg": .strings(["none", "RS256", "HS256", "ES256"]), "kid": .string(store.keyID),
                "crit": .strings(["b64"]), "b64": .bool(false), "jwk": .object([]), "d": "AQAB",
                "use": "enc", "iss": "accounts.google.com", "aud": .string(store.audience),
                "email": .string(store.serviceAccount), "email_verified": "true",
                "exp": .integer(Self.now.milliseconds / 1000), "nbf": .number("1769904000.5"),
                "iat": .number("1e300"),
            ])
        )
    }

    private struct NoKey: Error {}

    private static func jwk(_ key: P256.Signing.PublicKey) -> JSONValue {
        let point = key.rawRepresentation
        let (x, y) = (Array(point.prefix(32)), Array(point.dropFirst(32)))
        return .members([
            "kty": "EC", "crv": "P-256", "x": .string(Base64.encode(x.span, .url)),
            "y": .string(Base64.encode(y.span, .url)),
        ])
    }

    private static func jwk(_ key: Curve25519.Signing.PublicKey) -> JSONValue {
        .members([
            "kty": "OKP", "crv": "Ed25519",
            "x": .string(Base64.encode(Array(key.rawRepresentation).span, .url)),
        ])
    }

    func seeds() -> [[UInt8]] {
        samples.map { Array($0.description.utf8) } + pems.map { Array($0.utf8) }
    }

    func run(_ input: [UInt8]) {
        // Why keys cannot be used makes no difference here.
        _ = Blocking.wait { try? await TokenKeys(String(decoding: input, as: UTF8.self)) }
        guard let json = try? JSONValue(parsing: input), json.members != nil else {
            let isTaken = isAccepted(input, by: (try? store.keySet()) ?? "", lifetime: nil)
            return demand(!isTaken, "only what was signed is accepted")
        }
        let keys = (json["keys"]?.description ?? "").replacing(Self.modulusName, with: modulus)
        let signed = try? store.token(
            at: Self.now,
            claims: json["claims"] ?? .object([]),
            header: json["header"] ?? .object([])
        )
        guard let signed else { return }
        guard isAccepted(Array(signed.utf8), by: keys, lifetime: json["lifetime"]?.integer) else {
            return
        }
        demand(keys.contains(modulus), "it is held against the keys that are there")
        demandClaims(of: signed)
    }

    /// Whether a token is taken for one of Google's pushes to us.
    private func isAccepted(_ token: [UInt8], by keys: String, lifetime: Int64?) -> Bool {
        let verifier = PlayPushVerifier(
            identity,
            keys: IssuerKeys(for: TokenKeys.google) {
                IssuerKeys.Fetched(text: keys, lifetime: lifetime)
            }
        )
        let outcome = Blocking.wait { try? await verifier.verify(token, at: Self.now) }
        guard case .accepted? = outcome else { return false }
        return true
    }

    /// What is accepted says who it is from, whom it is for, and that it still holds.
    private func demandClaims(of token: String) {
        let parts = token.split(separator: ".").map { part in
            Base64.decode(String(part), .url).flatMap { try? JSONValue(parsing: $0) }
        }
        guard parts.count == 3, let header = parts[0], let claims = parts[1] else {
            return demand(false, "what is accepted is JSON")
        }
        demand(header["alg"]?.string == "RS256" && header["crit"] == nil, "its algorithm is taken")
        demand(
            ["https://accounts.google.com", "accounts.google.com"].contains(claims["iss"]?.string),
            "it is Google's"
        )
        let audiences = claims["aud"]?.array ?? [claims["aud"] ?? .null]
        demand(audiences.contains(.string(store.audience)), "it is for us")
        demand(
            claims["email"] == .string(store.serviceAccount)
                && claims["email_verified"] == .bool(true),
            "it is of the account that was configured"
        )
        let now = Double(Self.now.milliseconds)
        // What is less than a millisecond is passed over.
        func date(_ claim: String) -> Double? {
            claims[claim].flatMap { Double($0.description) }.map { ($0 * 1000).rounded(.down) }
        }
        demand(date("exp").map { $0 > now } == true, "it has not ended")
        let latest = now + Double(SignedToken.skewMilliseconds)
        demand(["nbf", "iat"].allSatisfy { date($0) ?? now <= latest }, "it has begun")
        PlantedFault.strike(audiences.count > 1)
    }
}
