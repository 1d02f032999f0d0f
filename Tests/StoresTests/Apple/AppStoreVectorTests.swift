import Encodings
import Entitlements
import ModelSupport
import Stores
import Testing

/// Messages and chains that others made, each with the verdict that it must get.
@Suite(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
struct `The App Store's vectors` {
    // row 7.3, row 7.4, row 9.2, row CL3
    @Test func `of signed messages get the verdicts of their index`() async throws {
        let cases = try #require(try Vectors.json("apple/cases-jws.json")["cases"]?.array)
        var counts = (accepted: 0, refused: 0)
        for json in cases {
            let vector = try AppStoreVectorCase(json)
            let outcome = await vector.outcome()
            let isExpected = Self.judgedAtSigning[vector.id] ?? vector.isValid
            #expect((outcome.refusal == nil) == isExpected, "\(vector.id): \(outcome)")
            if let code = Self.codes[vector.id] { #expect(outcome.refusal == code, "\(vector.id)") }
            if outcome.refusal == nil { counts.accepted += 1 } else { counts.refused += 1 }
        }
        print("App Store messages: \(counts.accepted) accepted, \(counts.refused) refused")
        #expect(counts.accepted + counts.refused == cases.count)
        #expect(counts.accepted >= 9 && counts.refused >= 15)
    }

    /// Where a peer's verdict is not ours.
    ///
    /// The peers judge a certificate's validity now when they are online, so that they refuse
    /// today what they accepted when it was received. We judge at `signedDate`, for a replay must
    /// judge alike (Stores, rule 2; trap 19).
    private static let judgedAtSigning = ["apple-real-18-consumable-verified-now": true]

    private static let codes: [String: SignalRefusal.Code] = [
        "apple-jws-10-missing-x5c": .notSigned,
        "apple-jws-11-wrong-bundle-id-notification": .wrongBundle,
        "apple-jws-12-wrong-app-apple-id": .wrongEnvironment,
        "apple-jws-13-wrong-bundle-id-transaction": .wrongBundle,
        "apple-jws-14-wrong-environment-notification": .wrongEnvironment,
        "apple-jws-15-too-many-parts": .malformed,
        "apple-jws-16-malformed-data": .malformed,
        "apple-jws-17-xcode-data-in-production": .badChain,
        "jwtkit-validToken": .wrongOID,
        "jwtkit-missingRootToken": .badChain,
        "jwtkit-missingLeafAndIntermediateToken": .badChain,
    ]

    // row 7.4
    @Test(
        arguments: [
            ("00-good-control", nil), ("01-payload-tampered", .badSignature),
            ("02-signature-bit-flip", .badSignature), ("03-signature-empty", .notSigned),
            ("04-signature-63-bytes", .badSignature),
            ("05-signature-DER-instead-of-raw", .badSignature),
            ("06-alg-none-unsigned", .notSigned),
            ("07-alg-HS256-keyed-with-leaf-spki", .wrongAlgorithm),
            ("08-alg-ES384-label", .wrongAlgorithm), ("09-alg-missing", .wrongAlgorithm),
            ("10-x5c-empty", .badChain), ("11-x5c-two", .badChain), ("12-x5c-four", .badChain),
            ("13-x5c-order-swapped", .wrongOID),
            // Swift's, Python's and Node's peers never look at the third certificate. What stands in
            // a signed header and is not what it must be is refused, as Java's does.
            ("14-x5c-third-element-garbage", .badChain),
            ("15-signed-by-other-key-valid-chain", .badSignature), ("16-leaf-wrong-oid", .wrongOID),
            ("17-intermediate-wrong-oid", .wrongOID),
            ("18-signedDate-before-leaf-validity", .expiredCertificate),
            ("19-signedDate-after-leaf-expiry", .expiredCertificate),
            // The peers fall back to the present. Validity is judged at `signedDate` (Stores,
            // rule 2): without one nothing says when the certificates must have been valid, and a
            // replay would judge otherwise.
            ("20-signedDate-missing", .missingField), ("21-wrong-bundle", .wrongBundle),
            ("22-environment-Xcode-claimed", .wrongEnvironment),
            ("23-environment-unknown", .wrongEnvironment), ("24-header-not-json", .malformed),
            // Its signature is not over what it holds, and that is looked at first.
            ("25-payload-not-json", .badSignature), ("26-leading-space", .malformed),
            ("27-padded-base64url", .malformed), ("28-no-x5c", .notSigned),
        ] as [(String, SignalRefusal.Code?)]
    )
    func `of tampered messages get a code each`(
        _ name: String,
        _ code: SignalRefusal.Code?
    ) async throws {
        let verifier = try AppStoreVerifier(
            AppStoreConfiguration(
                bundleIDs: ["com.example"],
                environments: [.sandbox],
                roots: [AppStoreVectorCase.root("certs/testCA.der")]
            )
        )
        let jws = try AppStoreVectorCase.text("derived-by-us/apple-jws/\(name).jws")
        let outcome = await verifier.transaction(jws, now: AppStoreVectorCase.now)
        #expect(outcome.refusal == code, "\(outcome)")
    }

    @Test func `of tampered messages are all judged`() throws {
        let cases = try Vectors.json("derived-by-us/apple-jws/cases.json")["cases"]?.array
        #expect(cases?.count == 29)
    }
}
