import Encodings
import Entitlements
import ModelSupport
import Testing

@testable import LedgerServer

struct `Whoever asks` {
    /// Lends an authenticator with one key and one issuer.
    private static func with(
        _ body: (Authenticator, _ key: String, _ issuer: TokenIssuer) async throws -> Void
    ) async throws {
        let issuer = try await TokenIssuer.es256()
        let verifier = CustomerTokenVerifier(keys: try await TokenKeys(issuer.pem))
        try await KeyFolder.with { folder in
            let (key, text) = APIKey.sample(1)
            try folder.write([key])
            try await body(
                Authenticator(keys: try folder.ring(), customers: verifier),
                text,
                issuer
            )
        }
    }

    private static let caller = Caller.key(id: APIKey.sample(1).key.id, scopes: [.read])

    // row 9.4
    @Test func `is known by a key in either header, or is anonymous`() async throws {
        try await Self.with { authenticator, key, _ in
            for scheme in ["Bearer ", "bearer ", "BEARER   "] {
                let found = authenticator.caller(
                    authorization: [scheme + key],
                    apiKey: [],
                    at: noon
                )
                #expect(found == .accepted(Self.caller), "\(scheme)")
            }
            let found = authenticator.caller(authorization: [], apiKey: [key], at: noon)
            #expect(found == .accepted(Self.caller))
            let nobody = authenticator.caller(authorization: [], apiKey: [], at: noon)
            #expect(nobody == .accepted(.anonymous))
        }
    }

    @Test func `is known by a customer token in Authorization only`() async throws {
        try await Self.with { authenticator, _, issuer in
            let token = try issuer.token(for: "ann")
            for _ in 0..<3 {
                let found = authenticator.caller(
                    authorization: ["Bearer " + token],
                    apiKey: [],
                    at: noon
                )
                #expect(found == .accepted(.customer(id: "ann")))
            }
            let other = authenticator.caller(authorization: [], apiKey: [token], at: noon)
            #expect(other == .refused(.unknownKey))
        }
    }

    @Test func `is refused with a header that is not exactly one credential`() async throws {
        try await Self.with { authenticator, key, issuer in
            let token = try issuer.token(for: "ann")
            let rows: [([String], [String], AuthenticationRefusal)] = [
                ([""], [], .malformed), (["Bearer"], [], .malformed), (["Bearer "], [], .malformed),
                (["Bearer    "], [], .malformed), (["Basic YTpi"], [], .malformed),
                ([key], [], .malformed),
                (["Bearer\u{0}" + key], [], .malformed), (["Bearer\t" + key], [], .malformed),
                ([" Bearer " + key], [], .malformed), (["Bearer" + key], [], .malformed),
                (["Ｂearer " + key], [], .malformed),
                (["Bearer " + key, "Bearer " + key], [], .malformed),
                (["Bearer " + key], [key], .malformed), ([], [key, key], .malformed),
                (["Bearer " + token], [key], .malformed),
                (["Bearer " + key + " "], [], .unknownKey),
                (["Bearer " + key + "A"], [], .unknownKey),
                (["Bearer " + key.dropLast()], [], .unknownKey), (["Bearer el_"], [], .unknownKey),
                (["Bearer " + key.uppercased()], [], .malformed), ([], [""], .unknownKey),
                ([], ["Bearer " + key], .unknownKey), ([], [" " + key], .unknownKey),
                (["Bearer " + String(repeating: "a", count: 8_300)], [], .malformed),
                (["Bearer el_" + String(repeating: "a", count: 1 << 20)], [], .malformed),
            ]
            for (authorization, apiKey, refusal) in rows {
                let found = authenticator.caller(
                    authorization: authorization,
                    apiKey: apiKey,
                    at: noon
                )
                #expect(found == .refused(refusal), "\("\(authorization) \(apiKey)".prefix(200))")
            }
        }
    }

    // row 9.4: one changed character is another key
    @Test func `is refused with a key changed at any place`() async throws {
        try await Self.with { authenticator, key, _ in
            for place in key.indices {
                var other = key
                other.replaceSubrange(place...place, with: key[place] == "a" ? "b" : "a")
                let found = authenticator.caller(authorization: [], apiKey: [other], at: noon)
                #expect(found == .refused(.unknownKey), "\(other)")
            }
        }
    }

    @Test func `is refused from the instant on at which the key ends`() async throws {
        try await KeyFolder.with { folder in
            let (key, text) = APIKey.sample(1, expiresAt: noon.plus(seconds: 60))
            try folder.write([key])
            let authenticator = Authenticator(keys: try folder.ring())
            let last = noon.advanced(byMilliseconds: 59_999)
            let rows: [(Instant, Authentication<Caller>)] = [
                (last, .accepted(Self.caller)), (noon.plus(seconds: 60), .refused(.expired)),
                (Instant(milliseconds: .max), .refused(.expired)),
            ]
            for (now, expected) in rows {
                let found = authenticator.caller(authorization: [], apiKey: [text], at: now)
                #expect(found == expected)
            }
            // Whoever has only the id does not learn that it has ended.
            let guess = String(text.dropLast()) + (text.hasSuffix("A") ? "B" : "A")
            let found = authenticator.caller(
                authorization: [],
                apiKey: [guess],
                at: noon.plus(seconds: 60)
            )
            #expect(found == .refused(.unknownKey))
        }
    }

    // row 9.4
    @Test func `is refused within a second of the key's revocation`() async throws {
        try await KeyFolder.with { folder in
            let (key, text) = APIKey.sample(1)
            try folder.write([key])
            let authenticator = Authenticator(keys: try folder.ring())
            func found(_ now: Instant) -> Authentication<Caller> {
                authenticator.caller(authorization: ["Bearer " + text], apiKey: [], at: now)
            }
            #expect(found(noon) == .accepted(Self.caller))
            try folder.write([])
            #expect(found(noon.plus(seconds: 1)) == .refused(.unknownKey))
        }
    }

    // row 9.4: what lasts, a stream say, lasts as long as its key.
    @Test func `stands as long as its key does, with the scopes that it had`() async throws {
        try await KeyFolder.with { folder in
            let end = noon.plus(seconds: 60)
            let (key, _) = APIKey.sample(1, expiresAt: end)
            let caller = Caller.key(id: key.id, scopes: key.scopes)
            try folder.write([key])
            let authenticator = Authenticator(keys: try folder.ring())
            #expect(authenticator.stands(caller, at: noon))
            #expect(authenticator.stands(caller, at: noon.plus(seconds: 59)))
            #expect(!authenticator.stands(caller, at: end))
            #expect(!authenticator.stands(.key(id: key.id, scopes: [.admin]), at: noon))
            #expect(!authenticator.stands(.key(id: "other", scopes: key.scopes), at: noon))
            try folder.write([])
            #expect(!authenticator.stands(caller, at: noon.plus(seconds: 61)))
        }
    }

    @Test func `with a token that was seen before is refused when its time is over`() async throws {
        try await Self.with { authenticator, _, issuer in
            let token = try issuer.token(for: "ann")
            func found(_ seconds: Int64) -> Authentication<Caller> {
                authenticator.caller(
                    authorization: ["Bearer " + token],
                    apiKey: [],
                    at: noon.plus(seconds: seconds)
                )
            }
            #expect(found(0) == .accepted(.customer(id: "ann")))
            #expect(found(3599) == .accepted(.customer(id: "ann")))
            #expect(found(3600) == .refused(.expired))
            #expect(found(-61) == .refused(.notYetValid))
        }
    }

    @Test func `with a token is refused where the server takes none`() async throws {
        let token = try await TokenIssuer.es256().token(for: "ann")
        try await KeyFolder.with { folder in
            let found = Authenticator(keys: try folder.ring()).caller(
                authorization: ["Bearer " + token],
                apiKey: [],
                at: noon
            )
            #expect(found == .refused(.notConfigured))
        }
    }

    @Test func `gets in by no header that is made up`() async throws {
        try await Self.with { authenticator, key, issuer in
            var random = SplitMix64(seed: 9)
            let token = try issuer.token(for: "ann")
            let good = ["Bearer " + key, "Bearer " + token]
            var refusals = Set<AuthenticationRefusal>()
            for _ in 0..<5_000 {
                var bytes = Array((good.randomElement(using: &random) ?? "").utf8)
                for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: place)
                    case 2: bytes.insert(UInt8.random(in: 33...126, using: &random), at: place)
                    default: bytes.removeSubrange(place...)
                    }
                }
                let header = String(decoding: bytes, as: UTF8.self)
                // Case and number of spaces after the scheme do not matter, all else does.
                let words = header.split(separator: " ")
                if words.count == 2, words[0].lowercased() == "bearer",
                    good.contains("Bearer " + words[1])
                {
                    continue
                }
                let found = authenticator.caller(authorization: [header], apiKey: [], at: noon)
                switch found {
                case .accepted: Issue.record("\(header)")
                case .refused(let refusal): refusals.insert(refusal)
                }
            }
            #expect(refusals.isSuperset(of: [.malformed, .unknownKey, .badSignature]))
        }
    }

    @Test func `is told apart by many at once`() async throws {
        try await Self.with { authenticator, key, issuer in
            let tokens = try (0..<20).map { try issuer.token(for: "customer \($0)") }
            let wrong = await withTaskGroup(of: Int.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        (0..<400).count { step in
                            let number = (step + task) % 20
                            let customer = authenticator.caller(
                                authorization: ["Bearer " + tokens[number]],
                                apiKey: [],
                                at: noon
                            )
                            let caller = authenticator.caller(
                                authorization: [],
                                apiKey: [key],
                                at: noon
                            )
                            return customer != .accepted(.customer(id: "customer \(number)"))
                                || caller != .accepted(Self.caller)
                        }
                    }
                }
                return await group.reduce(0, +)
            }
            #expect(wrong == 0)
        }
    }
}

struct `A caller` {
    // row 9.4
    @Test func `is a customer by the bytes of the id`() {
        let composed: CustomerID = "ren\u{E9}"
        let decomposed: CustomerID = "rene\u{301}"
        #expect(composed.text == decomposed.text, "the control: Swift takes them for one")
        #expect(Caller.customer(id: composed).isCustomer(composed))
        #expect(!Caller.customer(id: composed).isCustomer(decomposed))
        #expect(!Caller.anonymous.isCustomer("ann"))
        #expect(!Caller.key(id: "ann", scopes: [.admin]).isCustomer("ann"))
    }

    @Test(arguments: Scope.allCases)
    func `has the scopes of its key, and admin has all`(_ scope: Scope) {
        for other in Scope.allCases {
            let caller = Caller.key(id: "k", scopes: [other])
            #expect(caller.has(scope) == (other == scope || other == .admin))
        }
        #expect(!Caller.key(id: "k", scopes: []).has(scope))
        #expect(!Caller.anonymous.has(scope))
        #expect(!Caller.customer(id: "ann").has(scope))
    }
}
