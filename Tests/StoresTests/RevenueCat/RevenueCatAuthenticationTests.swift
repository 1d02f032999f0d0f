import Encodings
import Entitlements
import ModelSupport
import Stores
import Testing

/// The webhook's secrets, by cases with verdicts (Stores, rule 4).
@Suite("RevenueCat authentication")
struct RevenueCatAuthenticationTests {
    @Test
    func `the header's secret is compared whole`() throws {
        let proof = try #require(
            RevenueCatAuthentication(authorization: Array("Bearer s3cret".utf8), hmacSecret: nil)
        )
        let now = Instant(milliseconds: 1_785_175_200_000)
        let rows: [(String?, Bool)] = [
            ("Bearer s3cret", true), ("Bearer s3cre", false), ("Bearer s3cret ", false),
            ("bearer s3cret", false), ("", false), (nil, false),
        ]
        for (given, verdict) in rows {
            let accepts = proof.accepts(
                authorization: given,
                signature: nil,
                body: [],
                now: now
            )
            #expect(accepts == verdict, "\(given ?? "none")")
        }
    }

    @Test
    func `no secret is no authentication`() {
        #expect(RevenueCatAuthentication(authorization: nil, hmacSecret: nil) == nil)
    }

    @Test(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
    func `every HMAC case gets its verdict`() throws {
        let folder = "derived-by-us/revenuecat-hmac/"
        let cases = try #require(try Vectors.json(folder + "cases.json")["cases"]?.array)
        var accepted = 0
        for row in cases {
            let secret = try #require(row["secret"]?.string)
            let proof = try #require(
                RevenueCatAuthentication(authorization: nil, hmacSecret: Array(secret.utf8))
            )
            let name = try #require(row["id"]?.string)
            let verdict = proof.accepts(
                authorization: nil,
                signature: row["header"]?.string,
                body: try Vectors.bytes(folder + (row["body"]?.string ?? "body.json")),
                now: Instant(milliseconds: (row["now"]?.integer ?? 0) * 1000)
            )
            #expect(verdict == (row["expect"] == "accept"), "\(name)")
            if verdict { accepted += 1 }
        }
        #expect(cases.count == 16 && accepted == 4)
    }
}
