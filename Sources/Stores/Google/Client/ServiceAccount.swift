import Crypto
import CryptoExtras
import Encodings
import Entitlements

/// A service account of Google Cloud, which signs in by a key of its own
/// (developers.google.com/identity/protocols/oauth2/service-account).
package struct ServiceAccount: Sendable {
    let email: String
    /// Where it gets its access tokens.
    let tokenURL: String
    private let key: _RSA.Signing.PrivateKey

    /// Google's own address for access tokens.
    package static let googleTokenURL = "https://oauth2.googleapis.com/token"
    /// What it may do: read and acknowledge purchases.
    private static let scope = "https://www.googleapis.com/auth/androidpublisher"
    /// Seconds for which it signs in: Google takes an hour at most.
    private static let lifetime: Int64 = 3600

    /// Reads the file that Google Cloud gives for a key; nil: it is none.
    package init?(json bytes: [UInt8], tokenURL: String? = nil) {
        // Whatever else it is, it is no such file.
        guard let json = try? JSONValue(parsing: bytes), json["type"]?.string == "service_account",
            let email = json["client_email"]?.string, let pem = json["private_key"]?.string,
            let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem)
        else { return nil }
        self.email = email
        self.tokenURL = tokenURL ?? json["token_uri"]?.string ?? Self.googleTokenURL
        self.key = key
    }

    /// Asks for an access token.
    func signIn(at now: Instant) throws -> StoreRequest {
        let seconds = now.milliseconds / 1000
        let assertion = try SignedClaims.text(
            header: .members(["alg": "RS256", "typ": "JWT"]),
            claims: .members([
                "iss": .string(email), "scope": .string(Self.scope), "aud": .string(tokenURL),
                "iat": .integer(seconds), "exp": .integer(seconds + Self.lifetime),
            ])
        ) { signed in
            let digest = SHA256.hash(data: signed)
            return Array(
                try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation
            )
        }
        let body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        return StoreRequest(
            .post,
            tokenURL,
            headers: ["Content-Type": "application/x-www-form-urlencoded"],
            body: Array((body + assertion).utf8)
        )
    }
}
