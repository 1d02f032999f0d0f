import Encodings
import Entitlements
import ModelSupport
import StoreSimulator
import Stores
import Synchronization
import Testing

@testable import LedgerServer

struct `A push of Google Play` {
    private static let store = Result { try SimulatedPlayStore() }
    private static let now = Instant(milliseconds: 1_780_272_000_000)

    /// Keys that an address gives, one answer after the other, the last one for ever.
    private final class Address: Sendable {
        private let answers: Mutex<[IssuerKeys.Fetched?]>
        let count = Atomic<Int>(0)

        init(_ texts: String?..., lifetime: Int64? = nil) {
            answers = Mutex(texts.map { $0.map { .init(text: $0, lifetime: lifetime) } })
        }

        var keys: IssuerKeys {
            IssuerKeys(for: TokenKeys.google) {
                self.count.wrappingAdd(1, ordering: .relaxed)
                return self.answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            }
        }

        var fetches: Int { count.load(ordering: .relaxed) }
    }

    private static func verifier(
        _ keys: IssuerKeys,
        audience: String? = nil,
        account: String? = nil
    ) throws -> PlayPushVerifier {
        let store = try store.get()
        return PlayPushVerifier(
            PlayPushIdentity(
                audience: audience ?? store.audience,
                serviceAccount: account ?? store.serviceAccount
            ),
            keys: keys
        )
    }

    /// Why a token does not count; nil: it does.
    private static func refusal(
        _ verifier: PlayPushVerifier,
        _ token: String,
        at now: Instant = now
    ) async throws -> AuthenticationRefusal? {
        switch try await verifier.verify(Array(token.utf8), at: now) {
        case .accepted: nil
        case .refused(let refusal): refusal
        }
    }

    @Test func `is known by its token`() async throws {
        let store = try Self.store.get()
        let verifier = try Self.verifier(Address(store.keySet()).keys)
        #expect(try await Self.refusal(verifier, store.token(at: Self.now)) == nil)
    }

    // row 9.3
    @Test func `is known by the keys of before until newer ones are there`() async throws {
        let store = try Self.store.get()
        let address = try Address(store.keySet(), nil, lifetime: 7200)
        let verifier = try Self.verifier(address.keys)
        #expect(try await Self.refusal(verifier, store.token(at: Self.now)) == nil)
        let hour: Int64 = 3_600_000
        let next = Self.now.advanced(byMilliseconds: hour)
        #expect(await verifier.fetchesKeys(lapsedBy: next, at: Self.now))
        #expect(address.fetches == 1, "they last until then")
        let later = next.advanced(byMilliseconds: hour - 1)
        let afterwards = later.advanced(byMilliseconds: hour)
        #expect(await !verifier.fetchesKeys(lapsedBy: afterwards, at: later))
        #expect(address.fetches == 2)
        #expect(try await Self.refusal(verifier, store.token(at: later), at: later) == nil)
    }

    static let tokens: [(String, String, AuthenticationRefusal)] = [
        (#"{"iss":"https://accounts.example.com"}"#, "{}", .wrongIssuer),
        (#"{"iss":null}"#, "{}", .wrongIssuer),
        (#"{"aud":"https://example.com/other"}"#, "{}", .wrongAudience),
        (#"{"aud":null}"#, "{}", .wrongAudience),
        (#"{"email":"somebody@example.iam.gserviceaccount.com"}"#, "{}", .wrongAccount),
        (#"{"email":null}"#, "{}", .wrongAccount),
        (#"{"email_verified":false}"#, "{}", .wrongAccount),
        (#"{"email_verified":"true"}"#, "{}", .wrongAccount),
        (#"{"email_verified":null}"#, "{}", .wrongAccount),
        (#"{"exp":null}"#, "{}", .badClaims), (#"{"exp":"never"}"#, "{}", .badClaims),
        (#"{"exp":1780272000}"#, "{}", .expired),
        (#"{"iat":1780272061}"#, "{}", .notYetValid),
        ("{}", #"{"alg":"none"}"#, .algorithm), ("{}", #"{"alg":"HS256"}"#, .algorithm),
        ("{}", #"{"alg":"ES256"}"#, .algorithm), ("{}", #"{"alg":"RS384"}"#, .algorithm),
        ("{}", #"{"alg":null}"#, .malformed), ("{}", #"{"crit":["exp"]}"#, .malformed),
        ("{}", #"{"kid":"another"}"#, .unknownIssuerKey), ("{}", #"{"kid":7}"#, .malformed),
    ]

    @Test(arguments: tokens)
    func `by another token is refused`(
        _ claims: String,
        _ header: String,
        _ expected: AuthenticationRefusal
    ) async throws {
        let store = try Self.store.get()
        let verifier = try Self.verifier(Address(store.keySet()).keys)
        let token = try store.token(
            at: Self.now,
            claims: JSONValue(parsing: Array(claims.utf8)),
            header: JSONValue(parsing: Array(header.utf8))
        )
        #expect(try await Self.refusal(verifier, token) == expected)
    }

    @Test func `by an altered token, or one of another signer, is refused`() async throws {
        let store = try Self.store.get()
        let verifier = try Self.verifier(Address(store.keySet()).keys)
        let token = try store.token(at: Self.now)
        let other = try SimulatedPlayStore().token(at: Self.now)
        #expect(try await Self.refusal(verifier, other) == .badSignature)
        let parts = token.split(separator: ".")
        let theirs = other.split(separator: ".")
        let mixed = "\(parts[0]).\(theirs[1]).\(theirs[2])"
        #expect(try await Self.refusal(verifier, mixed) == .badSignature)
        for text in ["", ".", "..", "a.b.c", "\(parts[0]).\(parts[1])", token + ".x", token + "="] {
            #expect(try await Self.refusal(verifier, text) == .malformed)
        }
        let long = String(repeating: "a", count: SignedToken.byteLimit + 1)
        #expect(try await Self.refusal(verifier, long) == .malformed)
    }

    // Keys are rotated in mid-flight: read again, but not for everybody who names one.
    @Test func `by a new key is known after the keys are read again`() async throws {
        let old = try SimulatedPlayStore(keyID: "old")
        let store = try Self.store.get()
        let address = Address(try old.keySet(), try store.keySet())
        let verifier = try Self.verifier(address.keys)
        #expect(try await Self.refusal(verifier, old.token(at: Self.now)) == nil)
        let token = try store.token(at: Self.now)
        // A moment ago they were read.
        #expect(try await Self.refusal(verifier, token) == .unknownIssuerKey)
        #expect(address.fetches == 1)
        let later = Self.now.advanced(byMilliseconds: 60_000)
        #expect(try await Self.refusal(verifier, token, at: later) == nil)
        #expect(address.fetches == 2)
    }

    @Test func `is known while the keys cannot be read, until they lapse`() async throws {
        let store = try Self.store.get()
        let address = Address(try store.keySet(), nil, lifetime: 1200)
        let verifier = try Self.verifier(address.keys)
        let token = try store.token(at: Self.now)
        #expect(try await Self.refusal(verifier, token) == nil)
        let before = Self.now.advanced(byMilliseconds: 1_199_999)
        #expect(try await Self.refusal(verifier, token, at: before) == nil)
        #expect(address.fetches == 1)
        let lapsed = Self.now.advanced(byMilliseconds: 1_200_000)
        await #expect(throws: IssuerKeys.Unavailable.self) {
            try await Self.refusal(verifier, token, at: lapsed)
        }
    }

    @Test(arguments: [
        "", "<html>", "{}", #"{"keys":[]}"#, #"{"keys":[{"kty":"EC","crv":"P-256"}]}"#,
        #"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#,
    ])
    func `is tried again where the keys are none`(_ text: String) async throws {
        let store = try Self.store.get()
        let address = Address(text, try store.keySet())
        let verifier = try Self.verifier(address.keys)
        let token = try store.token(at: Self.now)
        await #expect(throws: IssuerKeys.Unavailable.self) {
            try await Self.refusal(verifier, token)
        }
        // Nothing was kept of them.
        #expect(try await Self.refusal(verifier, token) == nil)
    }

    @Test func `has the keys read once for many that come together`() async throws {
        let store = try Self.store.get()
        let fetches = Atomic<Int>(0)
        let text = try store.keySet()
        let keys = IssuerKeys(for: TokenKeys.google) {
            fetches.add(1, ordering: .relaxed)
            try? await Task.sleep(for: .milliseconds(200))
            return IssuerKeys.Fetched(text: text, lifetime: nil)
        }
        let verifier = try Self.verifier(keys)
        let token = try store.token(at: Self.now)
        try await withThrowingTaskGroup(of: AuthenticationRefusal?.self) { group in
            for _ in 0..<40 { group.addTask { try await Self.refusal(verifier, token) } }
            for try await refusal in group { #expect(refusal == nil) }
        }
        #expect(fetches.load(ordering: .relaxed) == 1)
    }

    // googleapis/google-auth-library-java; its reasons are ours but where a comment says why not.
    @Test(.enabled(if: Vectors.arePresent, "\(Vectors.absence)"))
    func `is judged as Google's own library judges it`() async throws {
        let folder = "google/oidc/"
        let cases = try #require(try Vectors.json(folder + "cases-oidc.json")["cases"]?.array)
        #expect(cases.count == 16)
        let expected: [String: AuthenticationRefusal?] = [
            // The peer looks at no `iat`, and its clock is two months before it. Ours is a token's.
            "ok-rs256-jwks": .notYetValid, "ok-rs256-legacy-certs": .notYetValid,
            "iat-in-future": .notYetValid,
            // Pub/Sub signs by RS256 alone: refused before anything else.
            "ok-es256-iap": .algorithm, "expired-es256": .algorithm,
            "wrong-audience-es256": .algorithm,
            "expired-rs256": .expired, "expired-sa-rs256": .unknownIssuerKey,
            "wrong-audience-rs256": .wrongAudience, "wrong-issuer-rs256": .wrongAudience,
            "kid-unknown": .unknownIssuerKey, "wrong-email": .wrongAccount,
            "pubsub-doc-sample": .unknownIssuerKey,
        ]
        var judged = 0
        for entry in cases {
            let id = try #require(entry["id"]?.string)
            let token = String(
                decoding: try Vectors.bytes(folder + (entry["token"]?.string ?? "")),
                as: UTF8.self
            ).trimmed
            // An address that does not answer, or with nothing, is a fault of the moment. The peer asks
            // it for a token by ES256, which is refused here without it.
            guard let refusal = expected[id] else {
                #expect(id.hasPrefix("keys-"))
                let verifier = try Self.verifier(Address(nil).keys)
                #expect(try await Self.refusal(verifier, token) == .algorithm)
                let ours = try Self.store.get().token(at: Self.now)
                await #expect(throws: IssuerKeys.Unavailable.self) {
                    try await Self.refusal(verifier, ours)
                }
                judged += 1
                continue
            }
            let file = entry["keys"]?.string ?? "federated_keys.json"
            let name =
                file.hasSuffix("json") && !file.hasPrefix("iap") ? file : "federated_keys.json"
            let keys = String(decoding: try Vectors.bytes(folder + name), as: UTF8.self)
            let verifier = try Self.verifier(
                Address(keys).keys,
                audience: entry["audience"]?.string
                    ?? (id == "wrong-issuer-rs256" ? "x" : "https://example.com/path"),
                account: entry["email"]?.string
                    ?? "integration-tests@chingor-test.iam.gserviceaccount.com"
            )
            let clock = entry["clock_ms"]?.integer.map { Instant(milliseconds: $0) } ?? Self.now
            #expect(try await Self.refusal(verifier, token, at: clock) == refusal, "\(id)")
            judged += 1
        }
        #expect(judged == 16)
        // The genuine token, in its hour, by either form of the keys.
        let token = String(
            decoding: try Vectors.bytes(folder + "google-signed-rs256.jwt"),
            as: UTF8.self
        ).trimmed
        for name in ["federated_keys.json", "legacy_federated_keys.json"] {
            let keys = String(decoding: try Vectors.bytes(folder + name), as: UTF8.self)
            let verifier = try Self.verifier(
                Address(keys).keys,
                audience: "https://example.com/path",
                account: "integration-tests@chingor-test.iam.gserviceaccount.com"
            )
            let inTime = Instant(milliseconds: 1_587_626_300_000)
            #expect(try await Self.refusal(verifier, token, at: inTime) == nil, "\(name)")
        }
    }
}

extension String {
    /// Without white space around it.
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
