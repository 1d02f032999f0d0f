import Encodings
import Entitlements
import EventLog
import Foundation
import JWTKit
import ModelSupport
import Testing

@testable import LedgerServer

struct `A customer token` {
    private static let seconds = noon.milliseconds / 1000
    private static let claims = #"{"sub":"ann","exp":\#(seconds + 60)}"#

    private static func verdict(
        _ token: String,
        _ verifier: CustomerTokenVerifier,
        at now: Instant = noon
    ) -> Authentication<CustomerID> {
        verifier.verify(Array(token.utf8), at: now).map(\.customer)
    }

    private static func verifier(_ issuers: TokenIssuer...) async throws -> CustomerTokenVerifier {
        CustomerTokenVerifier(
            keys: try await TokenKeys(issuers.map(\.pem).joined(separator: "\n"))
        )
    }

    // row 9.4
    @Test func `signed by ES256 or EdDSA lets its customer in`() async throws {
        let (es256, edDSA) = (try await TokenIssuer.es256(), try await TokenIssuer.edDSA())
        let both = try await Self.verifier(es256, edDSA)
        for issuer in [es256, edDSA] {
            let token = try issuer.token(Self.claims)
            #expect(Self.verdict(token, both) == .accepted("ann"))
            #expect(Self.verdict(token, try await Self.verifier(issuer)) == .accepted("ann"))
        }
        let onlyEdDSA = try await Self.verifier(edDSA)
        #expect(
            Self.verdict(try es256.token(Self.claims), onlyEdDSA) == .refused(.unknownIssuerKey)
        )
        let another = try await TokenIssuer.es256()
        #expect(Self.verdict(try another.token(Self.claims), both) == .refused(.badSignature))
    }

    private struct Claims: JWTPayload {
        var sub: SubjectClaim
        var exp: ExpirationClaim
        var aud: AudienceClaim
        func verify(using algorithm: some JWTAlgorithm) {}
    }

    @Test func `as JWTKit mints it lets its customer in`() async throws {
        let key = ES256PrivateKey()
        let keys = await JWTKeyCollection().add(ecdsa: key, kid: "k1")
        let end = Date(timeIntervalSince1970: Double(Self.seconds) + 60.5)
        let token = try await keys.sign(
            Claims(sub: "ann", exp: .init(value: end), aud: .init(value: ["ledger", "other"])),
            kid: "k1"
        )
        let verifier = CustomerTokenVerifier(
            keys: try await TokenKeys(key.publicKey.pemRepresentation),
            audience: "ledger"
        )
        #expect(Self.verdict(token, verifier) == .accepted("ann"))
        let last = noon.advanced(byMilliseconds: 60_499)
        #expect(Self.verdict(token, verifier, at: last) == .accepted("ann"))
        let after = noon.advanced(byMilliseconds: 60_500)
        #expect(Self.verdict(token, verifier, at: after) == .refused(.expired))
    }

    /// Headers by which a signature of ours must not count.
    static let headers: [(String, AuthenticationRefusal)] = [
        (#"{"alg":"none"}"#, .algorithm), (#"{"alg":"None"}"#, .algorithm),
        (#"{"alg":"HS256"}"#, .algorithm), (#"{"alg":"RS256"}"#, .algorithm),
        (#"{"alg":"ES384"}"#, .algorithm), (#"{"alg":"es256"}"#, .algorithm),
        (#"{"alg":""}"#, .algorithm), (#"{"alg":["ES256"]}"#, .malformed),
        (#"{"alg":null}"#, .malformed), (#"{}"#, .malformed), (#"[]"#, .malformed),
        ("", .malformed),
        (#"{"alg":"ES256","alg":"ES256"}"#, .malformed),
        (#"{"alg":"none","alg":"ES256"}"#, .malformed),
        (#"{"alg":"ES256","crit":["b64"],"b64":false}"#, .malformed),
        (#"{"alg":"ES256","crit":[]}"#, .malformed), (#"{"alg":"ES256","kid":1}"#, .malformed),
        (#"{"alg":"EdDSA"}"#, .unknownIssuerKey), (#"{"alg":"ES256"} {}"#, .malformed),
    ]

    @Test(arguments: headers)
    func `is refused for its header before any signature counts`(
        _ header: String,
        _ refusal: AuthenticationRefusal
    ) async throws {
        let issuer = try await TokenIssuer.es256()
        let verifier = try await Self.verifier(issuer)
        let token = try issuer.token(Self.claims, header: header)
        #expect(Self.verdict(token, verifier) == .refused(refusal))
    }

    @Test func `signed with the public key as a secret is refused`() async throws {
        let issuer = try await TokenIssuer.es256()
        let verifier = try await Self.verifier(issuer)
        let confused = try await TokenIssuer.hs256(issuer.pem)
        #expect(Self.verdict(try confused.token(Self.claims), verifier) == .refused(.algorithm))
        let renamed = try confused.token(Self.claims, header: #"{"alg":"ES256"}"#)
        #expect(Self.verdict(renamed, verifier) == .refused(.badSignature))
    }

    private static let now = seconds

    /// Payloads, the instant asked for in seconds after noon, and what is said.
    static let payloads: [(String, Int64, AuthenticationRefusal?)] = [
        (#"{"sub":"ann","exp":\#(now + 60)}"#, 59, nil),
        (#"{"sub":"ann","exp":\#(now + 60)}"#, 60, .expired),
        (#"{"sub":"ann","exp":\#(now).5}"#, 0, nil), (#"{"sub":"ann","exp":\#(now)}"#, 0, .expired),
        (#"{"sub":"ann","exp":-1}"#, 0, .expired), (#"{"sub":"ann","exp":1.8e9}"#, 0, nil),
        (#"{"sub":"ann"}"#, 0, .badClaims), (#"{"sub":"ann","exp":null}"#, 0, .badClaims),
        (#"{"sub":"ann","exp":"\#(now + 60)"}"#, 0, .badClaims),
        (#"{"sub":"ann","exp":true}"#, 0, .badClaims),
        (#"{"sub":"ann","exp":1e400}"#, 0, .badClaims),
        (#"{"sub":"ann","exp":\#(noon.milliseconds)}"#, 0, .badClaims),
        (#"{"sub":"ann","exp":1e308}"#, 0, .badClaims),
        (#"{"sub":"ann","exp":-1e308}"#, 0, .badClaims),
        (#"{"exp":\#(now + 60)}"#, 0, .badClaims),
        (#"{"sub":"","exp":\#(now + 60)}"#, 0, .badClaims),
        (#"{"sub":null,"exp":\#(now + 60)}"#, 0, .badClaims),
        (#"{"sub":1,"exp":\#(now + 60)}"#, 0, .badClaims),
        (#"{"sub":["ann"],"exp":\#(now + 60)}"#, 0, .badClaims),
        (#"{"sub":"a\u0000b","exp":\#(now + 60)}"#, 0, .badClaims),
        (#"{"sub":"\#(String(repeating: "a", count: 1024))","exp":\#(now + 60)}"#, 0, nil),
        (#"{"sub":"\#(String(repeating: "a", count: 1025))","exp":\#(now + 60)}"#, 0, .badClaims),
        (#"{"sub":"ann","sub":"bob","exp":\#(now + 60)}"#, 0, .malformed),
        (#"{"sub":"ann","nbf":\#(now + 60),"exp":\#(now + 600)}"#, 0, nil),
        (#"{"sub":"ann","nbf":\#(now + 61),"exp":\#(now + 600)}"#, 0, .notYetValid),
        (#"{"sub":"ann","nbf":\#(now + 61),"exp":\#(now + 600)}"#, 1, nil),
        (#"{"sub":"ann","iat":\#(now + 61),"exp":\#(now + 600)}"#, 0, .notYetValid),
        (#"{"sub":"ann","iat":\#(now + 60),"exp":\#(now + 600)}"#, 0, nil),
        (#"{"sub":"ann","nbf":"0","exp":\#(now + 600)}"#, 0, .badClaims),
        (#"{"sub":"ann","iat":{},"exp":\#(now + 600)}"#, 0, .badClaims),
        (#"[]"#, 0, .malformed), (#"null"#, 0, .malformed), ("", 0, .malformed),
        (String(repeating: "[", count: 3000), 0, .malformed),
    ]

    @Test(arguments: payloads)
    func `counts by its claims and their time`(
        _ payload: String,
        _ after: Int64,
        _ refusal: AuthenticationRefusal?
    ) async throws {
        let issuer = try await TokenIssuer.es256()
        let verdict = Self.verdict(
            try issuer.token(payload),
            try await Self.verifier(issuer),
            at: noon.plus(seconds: after)
        )
        switch (verdict, refusal) {
        case (.accepted, nil): break
        case (.refused(let found), let refusal?): #expect(found == refusal)
        default: Issue.record("\(verdict)")
        }
    }

    @Test func `counts for its issuer and audience where they are configured`() async throws {
        let issuer = try await TokenIssuer.edDSA()
        let keys = try await TokenKeys(issuer.pem)
        let strict = CustomerTokenVerifier(keys: keys, issuer: "https://i", audience: "ledger")
        let rows: [(String, AuthenticationRefusal?)] = [
            (#""iss":"https://i","aud":"ledger""#, nil),
            (#""iss":"https://i","aud":["x","ledger"]"#, nil),
            (#""aud":"ledger""#, .wrongIssuer),
            (#""iss":"https://j","aud":"ledger""#, .wrongIssuer),
            (#""iss":["https://i"],"aud":"ledger""#, .wrongIssuer),
            (#""iss":"https://i""#, .wrongAudience),
            (#""iss":"https://i","aud":"x""#, .wrongAudience),
            (#""iss":"https://i","aud":[]"#, .wrongAudience),
            (#""iss":"https://i","aud":{"ledger":1}"#, .wrongAudience),
        ]
        for (more, refusal) in rows {
            let token = try issuer.token(#"{"sub":"ann","exp":\#(Self.seconds + 60),\#(more)}"#)
            let expected =
                refusal.map { Authentication<CustomerID>.refused($0) } ?? .accepted("ann")
            #expect(Self.verdict(token, strict) == expected, "\(more)")
            #expect(Self.verdict(token, CustomerTokenVerifier(keys: keys)) == .accepted("ann"))
        }
    }

    @Test func `has exactly three parts of canonical base64url`() async throws {
        let issuer = try await TokenIssuer.es256()
        let verifier = try await Self.verifier(issuer)
        let token = try issuer.token(Self.claims)
        let parts = token.split(separator: ".").map(String.init)
        let odd = [
            "", ".", "..", "...", parts[0], parts[0] + "." + parts[1], token + ".", "." + token,
            token + "=", token + "\n", " " + token, token.replacingOccurrences(of: ".", with: ".."),
            parts[0] + "=." + parts[1] + "." + parts[2], ".." + parts[2],
            String(repeating: ".", count: 8192), String(repeating: "a", count: 1 << 20),
        ]
        #expect(Self.verdict(token, verifier) == .accepted("ann"))
        for text in odd {
            #expect(Self.verdict(text, verifier) == .refused(.malformed), "\(text.prefix(80))")
        }
        // Stray bits in the last character: the 64 bytes of a signature leave four unused.
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        let last = try #require(token.last.flatMap { alphabet.firstIndex(of: $0) })
        for stray in 1..<16 {
            let text = token.dropLast() + String(alphabet[last | stray])
            #expect(Self.verdict(String(text), verifier) == .refused(.malformed))
        }
        let empty = parts[0] + "." + parts[1] + "."
        #expect(Self.verdict(empty, verifier) == .refused(.badSignature))
        let zeros =
            parts[0] + "." + parts[1] + "."
            + Base64.encode([UInt8](repeating: 0, count: 64).span, .url)
        #expect(Self.verdict(zeros, verifier) == .refused(.badSignature))
    }

    @Test func `is refused beyond its length, however good`() async throws {
        let issuer = try await TokenIssuer.es256()
        let verifier = try await Self.verifier(issuer)
        func token(_ padding: Int) throws -> String {
            let filler = String(repeating: "x", count: padding)
            return try issuer.token(#"{"sub":"ann","exp":\#(Self.seconds + 60),"x":"\#(filler)"}"#)
        }
        let short = try token(5_900)
        #expect(short.utf8.count <= SignedToken.byteLimit)
        #expect(Self.verdict(short, verifier) == .accepted("ann"))
        #expect(Self.verdict(try token(6_200), verifier) == .refused(.malformed))
    }

    @Test func `is checked by the key that it names`() async throws {
        let (one, two) = (try await TokenIssuer.es256("one"), try await TokenIssuer.es256("two"))
        let set = CustomerTokenVerifier(
            keys: try await TokenKeys(JSONWebKeys.set([one, two]))
        )
        #expect(Self.verdict(try one.token(Self.claims), set) == .accepted("ann"))
        #expect(Self.verdict(try two.token(Self.claims), set) == .accepted("ann"))
        let swapped = try one.token(Self.claims, header: two.header)
        #expect(Self.verdict(swapped, set) == .refused(.badSignature))
        let unknown = try one.token(Self.claims, header: #"{"alg":"ES256","kid":"three"}"#)
        #expect(Self.verdict(unknown, set) == .refused(.unknownIssuerKey))
        let unnamed = try two.token(Self.claims, header: #"{"alg":"ES256"}"#)
        #expect(Self.verdict(unnamed, set) == .accepted("ann"))
    }
}

struct `The keys of customer tokens` {
    private static func fault(_ text: String) async -> TokenKeys.Reason? {
        do {
            _ = try await TokenKeys(text)
            return nil
        } catch { return TokenKeys.Reason(rawValue: error.detail) }
    }

    @Test func `are refused with the reason`() async throws {
        let pem = try await TokenIssuer.es256().pem
        let secret = ES256PrivateKey().pemRepresentation
        let p384 = ES384PrivateKey().publicKey.pemRepresentation
        let set = JSONWebKeys.set([try await TokenIssuer.es256("a")])
        let rows: [(String, TokenKeys.Reason?)] = [
            (pem, nil), (set, nil), (" \n" + set, nil), ("# made today\n" + pem, nil),
            ("", .noUsableKey), ("hello", .noUsableKey), ("{}", .malformed), ("{", .malformed),
            (#"{"keys":[]}"#, .noUsableKey), (#"{"keys":{}}"#, .malformed),
            (secret, .privateKey), (pem + secret, .privateKey), (p384, .malformed),
            ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", .malformed),
            (String(pem.dropLast(40)), .malformed),
            (Array(repeating: pem, count: 16).joined(), nil),
            (Array(repeating: pem, count: 17).joined(), .tooMany),
            (String(repeating: " ", count: 65_537), .tooLarge),
            (set.replacingOccurrences(of: #""x":"#, with: #""d":"AA","x":"#), .privateKey),
            (set.replacingOccurrences(of: #""x":""#, with: #""x":"A"#), .malformed),
            (set.replacingOccurrences(of: #""x":"#, with: #""use":"enc","x":"#), .noUsableKey),
            (set.replacingOccurrences(of: #""x":"#, with: #""use":"sig","x":"#), nil),
            (set.replacingOccurrences(of: #""x":"#, with: #""alg":"ES256","x":"#), nil),
            (set.replacingOccurrences(of: #""x":"#, with: #""alg":"ES384","x":"#), .noUsableKey),
            (#"{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}"#, .privateKey),
            (#"{"keys":[{"kty":"RSA","n":"AQ","e":"AQAB"}]}"#, .noUsableKey),
            (#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]}"#, .malformed),
            (#"{"keys":[1,"a",null,[]]}"#, .noUsableKey),
        ]
        for (text, fault) in rows {
            #expect(await Self.fault(text) == fault, "\(text.prefix(300))")
        }
    }

    // RFC 7517, section 5: what is not understood is passed over
    @Test func `pass over keys of other kinds in a set`() async throws {
        let issuer = try await TokenIssuer.es256("a")
        let set = JSONWebKeys.set([issuer]).replacingOccurrences(
            of: #"{"keys":["#,
            with: #"{"keys":[{"kty":"RSA","n":"AQ","e":"AQAB"},{"kty":"EC","crv":"P-384"},"#
        )
        let verifier = CustomerTokenVerifier(keys: try await TokenKeys(set))
        let token = try issuer.token(for: "ann")
        #expect(verifier.verify(Array(token.utf8), at: noon).map(\.customer) == .accepted("ann"))
    }

    @Test func `of Ed25519 in a set are those of RFC 8037`() async throws {
        // RFC 8037, appendix A.2 and A.4: the public key, and a signature by it.
        let set =
            #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#
        let signed = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
        let signature =
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        let key = try #require(
            try await TokenKeys(set).candidates(.edDSA, keyID: nil).first
        )
        let bytes = try #require(Base64.decode(signature, .url))
        #expect(try key.verify(bytes, signs: Array(signed.utf8)))
        #expect(try !key.verify(bytes, signs: Array((signed + "A").utf8)))
    }
}

/// JWK sets of ES256 keys.
private enum JSONWebKeys {
    static func set(_ issuers: [TokenIssuer]) -> String {
        let keys = issuers.map { issuer in
            let key = try? ES256PublicKey(pem: issuer.pem)
            let (x, y) = key?.parameters ?? ("", "")
            return #"{"kty":"EC","crv":"P-256","kid":"\#(issuer.id ?? "")","#
                + #""x":"\#(url(x))","y":"\#(url(y))"}"#
        }
        return #"{"keys":[\#(keys.joined(separator: ","))]}"#
    }

    private static func url(_ base64: String) -> String {
        base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
