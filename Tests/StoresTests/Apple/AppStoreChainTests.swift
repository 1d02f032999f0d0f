import Crypto
import Encodings
import Entitlements
import ModelSupport
import StoreSimulator
import SwiftASN1
import Testing
import X509

@testable import Stores

/// The chain cases of Apple's libraries, run over the certificates alone.
@Suite(.enabled(if: Vectors.arePresent, Comment(rawValue: Vectors.absence)))
struct `The App Store's chains` {
    // row 7.4
    @Test func `get the verdicts of their index`() async throws {
        let cases = try #require(try Vectors.json("apple/cases-chain.json")["cases"]?.array)
        var counts = (valid: 0, invalid: 0)
        for json in cases {
            let id = json["id"]?.string ?? ""
            let isValid = json["expected"]?.string?.hasPrefix("valid") == true
            let code = await Self.code(json)
            #expect((code == nil) == isValid, "\(id): \(code as Any)")
            if let expected = Self.codes[id] { #expect(code == expected, "\(id)") }
            if isValid { counts.valid += 1 } else { counts.invalid += 1 }
        }
        print("App Store chains: \(counts.valid) valid, \(counts.invalid) invalid")
        #expect(counts == (2, 14))
    }

    private static let codes: [String: SignalRefusal.Code] = [
        "chain-02-invalid-intermediate-oid": .wrongOID,
        "chain-04-invalid-intermediate-oid-java-form": .untrustedRoot,
        "chain-05-invalid-leaf-oid": .wrongOID, "chain-06-length-2": .badChain,
        "chain-07-invalid-base64": .badChain, "chain-08-trailing-base64-char": .badChain,
        "chain-09-not-a-certificate-abc123": .badChain, "chain-12-empty-roots": .untrustedRoot,
        "chain-13-different-root": .untrustedRoot, "chain-14-expired": .expiredCertificate,
    ]

    /// Why the chain is refused; nil: it is not.
    ///
    /// A root that is no certificate counts as untrusted.
    private static func code(_ json: JSONValue) async -> SignalRefusal.Code? {
        do {
            let texts = try (json["x5c"]?.array ?? []).map { try text($0.string ?? "") }
            let roots = try (json["rootCertificates"]?.array ?? []).map {
                try text($0.string ?? "")
            }
            let at = Instant(
                milliseconds: (json["effectiveDateEpochSeconds"]?.integer ?? 0) * 1000
            )
            let chain = try await chain(texts, roots: roots)
            if json["id"]?.string == "chain-01-valid" {
                let expected = try Vectors.bytes("apple/chain/leaf_cert_public_key.der")
                let found = try chain.certificates[0].publicKey.serializeAsPEM().derBytes
                #expect(found == expected)
            }
            return chain.isValid(at: at) ? nil : .expiredCertificate
        } catch let refusal as SignalRefusal {
            return refusal.code
        } catch {
            return .untrustedRoot
        }
    }

    private static func text(_ reference: String) throws -> String {
        let inline = "inline:"
        if reference == "inline:<leaf_cert_invalid_oid>+a" {
            return try text("chain/leaf_cert_invalid_oid.b64") + "a"
        }
        if reference.hasPrefix(inline) { return String(reference.dropFirst(inline.count)) }
        return String(decoding: try AppStoreVectorCase.text("apple/" + reference), as: UTF8.self)
    }

    /// Judges as a header's `x5c` is judged.
    private static func chain(_ texts: [String], roots: [String]) async throws -> AppStoreChain {
        let anchors = try roots.map {
            try Certificate(derEncoded: Base64.decode($0) ?? [])
        }
        let header = JSONValue.members(["alg": "ES256", "x5c": .strings(texts)])
        let jws = Base64.digits(of: Array(header.description.utf8).span, .url) + Array("..".utf8)
        return try await AppStoreChainVerifier(roots: anchors).chain(of: CompactJWS(jws))
    }

    // row 7.4: the fingerprint is the one that Apple publishes.
    @Test func `end at Apple's root unless configured otherwise`() throws {
        let root = try #require(AppStoreConfiguration.builtInRoots.first)
        #expect(AppStoreConfiguration.builtInRoots.count == 1)
        #expect(root == (try Vectors.bytes("apple/real/AppleRootCA-G3.cer")))
        let digest = SHA256.hash(data: root).map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        #expect(
            digest.joined()
                == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"
        )
    }
}
