import Encodings
import Entitlements
import LedgerAPI
import ModelSupport
import Testing

@testable import EntitlementClient

/// What a client believes (row Z10).
struct `A snapshot that a client holds` {
    private static let authority = SnapshotAuthority()

    private static func verdict(
        _ text: String,
        by keys: TrustedKeys? = nil,
        for subject: SnapshotSubject = SnapshotAuthority.subject
    ) throws -> SnapshotRefusal? {
        switch UnverifiedSnapshot(text: text).verified(
            by: try keys ?? authority.keys(),
            for: subject
        )
        {
        case .success: nil
        case .failure(let refusal): refusal
        }
    }

    @Test func `counts where a trusted key signed it for this customer`() throws {
        let text = try Self.authority.snapshot()
        #expect(try Self.verdict(text) == nil)
        let other = SnapshotSubject(customer: "bob-1", environment: .production)
        #expect(try Self.verdict(text, for: other) == .subject)
        let sandbox = SnapshotSubject(
            customer: SnapshotAuthority.customer,
            environment: .sandbox
        )
        #expect(try Self.verdict(text, for: sandbox) == .subject)
        for (issuer, refusal) in [
            ("ledger.test/log", nil), ("ledger.test/other", .subject),
        ] as [(String, SnapshotRefusal?)] {
            var subject = SnapshotAuthority.subject
            subject.issuer = issuer
            #expect(try Self.verdict(text, for: subject) == refusal)
        }
        // Of two keys of one name, the one that is trusted counts.
        #expect(try Self.verdict(text, by: SnapshotAuthority().keys()) == .signature)
        #expect(try Self.verdict(text, by: SnapshotAuthority(id: "k2").keys()) == .unknownKey)
    }

    @Test(
        arguments: [
            (#"{"alg":"none","kid":"k1","typ":"entitlements+jwt"}"#, .header),
            (#"{"alg":"ES256","kid":"k1","typ":"entitlements+jwt"}"#, .header),
            (#"{"alg":"EdDSA","kid":"k1","typ":"JWT"}"#, .header),
            (#"{"alg":"EdDSA","kid":"k1"}"#, .header),
            (#"{"alg":"EdDSA","kid":"k1","typ":"entitlements+jwt","crit":[]}"#, .header),
            (#"{"alg":"EdDSA","typ":"entitlements+jwt"}"#, .unknownKey),
            (#"{"alg":"EdDSA","kid":"k2","typ":"entitlements+jwt"}"#, .unknownKey),
            (#"{"alg":"EdDSA","alg":"none","kid":"k1","typ":"entitlements+jwt"}"#, .malformed),
            ("[]", .header), ("", .malformed),
        ] as [(String, SnapshotRefusal)]
    )
    func `is refused for its header`(_ header: String, _ refusal: SnapshotRefusal) throws {
        let text = try Self.authority.sign(SnapshotAuthority.claims(), header: header)
        #expect(try Self.verdict(text) == refusal)
    }

    @Test(arguments: ["{}", "[]", "text", #"{"sub":"alice-1","environment":"production"}"#])
    func `that claims something else is refused although it is signed`(_ claims: String) throws {
        let refusal = try #require(try Self.verdict(Self.authority.sign(claims)))
        #expect(refusal == .claims || refusal == .subject)
    }

    @Test func `of a newer server is read by what decides`() throws {
        let claims = SnapshotAuthority.claims()
            .replacing(#""reason":"purchase""#, with: #""reason":"in_other_words","more":[1]"#)
            .replacing(#""purchases":[]"#, with: #""purchases":[{"status":"of_a_new_kind"}]"#)
            .replacing(#""period":"day""#, with: #""period":"decade""#)
        let text = try Self.authority.sign(claims)
        let known = try UnverifiedSnapshot(text: text)
            .verified(by: Self.authority.keys(), for: SnapshotAuthority.subject).get().entitlements
        let decision = FeatureGate(known, gates: nil, at: noon).decision("export")
        #expect(decision.isOpen && decision.reason == nil && known.purchases.isEmpty)
        #expect(FeatureGate(known, gates: nil, at: noon).decision("scan").limit == nil)
    }

    @Test func `of an older server is read without what it did not say`() throws {
        let claims = SnapshotAuthority.claims()
            .replacing(#/,\s*"gates":"[0-9a-f]+"/#, with: "")
            .replacing(#/,"grants":\[\],"trials":\[\],"warnings":\[\],"token":null/#, with: "")
        let text = try Self.authority.sign(claims)
        let known = try UnverifiedSnapshot(text: text)
            .verified(by: Self.authority.keys(), for: SnapshotAuthority.subject).get().entitlements
        #expect(FeatureGate(known, gates: nil, at: noon).isOpen("export"))
    }

    // row Z10: none accepted, none fatal; the one that was not changed is
    @Test func `that was changed anywhere is refused`() throws {
        let good = try Self.authority.snapshot()
        let keys = try Self.authority.keys()
        var random = SplitMix64(seed: 11)
        for round in 0..<5000 {
            let bytes = random.mutated(Array(good.utf8))
            guard bytes != Array(good.utf8) else { continue }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(try Self.verdict(text, by: keys) != nil, "round \(round)")
        }
        #expect(try Self.verdict(good, by: keys) == nil)
    }

    // row Z10: whatever becomes of the keys, nobody else's snapshot counts
    @Test func `of another key is refused by any set that was changed`() throws {
        let (good, other) = (try Self.authority.snapshot(), try SnapshotAuthority().snapshot())
        let set = Array(Self.authority.jwks.utf8)
        var random = SplitMix64(seed: 12)
        var counts = (read: 0, good: 0)
        for round in 0..<5000 {
            guard let keys = try? TrustedKeys(random.mutated(set)) else { continue }
            counts.read += 1
            #expect(try Self.verdict(other, by: keys) != nil, "round \(round)")
            if try Self.verdict(good, by: keys) == nil { counts.good += 1 }
        }
        // Controls: sets are read, some that were changed where it does not matter.
        #expect(counts.read > counts.good && counts.good > 0)
        #expect(try Self.verdict(good, by: TrustedKeys(set)) == nil)
    }

    @Test(arguments: ["", "{}", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[{"kty":"RSA"}]}"#])
    func `has no keys in a set that is none`(_ set: String) {
        #expect(throws: ServiceError.self) { try TrustedKeys(jwks: set) }
    }

    // Row Z17: who is offline for long verifies by a key that the server publishes no more.
    @Test func `verifies by a key that was kept beside newer ones`() throws {
        let newer = SnapshotAuthority(id: "k2")
        let both = try newer.keys().joined(with: Self.authority.keys())
        let kept = try TrustedKeys(jwks: both.json.description)
        #expect(try Self.verdict(Self.authority.snapshot(), by: kept) == nil)
        #expect(try Self.verdict(newer.snapshot(), by: kept) == nil)
    }
}
