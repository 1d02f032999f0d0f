import Crypto
import Encodings
import Entitlements

/// Who asks App Store Connect, and about which app: a key of its users and access, another one than
/// that for in-app purchases
/// (developer.apple.com/documentation/appstoreconnectapi/generating-tokens-for-api-requests).
package struct AppStoreConnectAccess: Sendable {
    private let issuerID: String
    private let keyID: String
    /// The app's id in the App Store, which is its id there too.
    let appID: Int64
    private let key: P256.Signing.PrivateKey

    /// Seconds for which a token is good: longer than a question waits for a store that was asked too often;
    /// App Store Connect takes twenty minutes at most.
    private static let lifetime: Int64 = 900

    /// Names a key; `pem`: as App Store Connect gives it.
    ///
    /// - Throws: what is wrong with the key's text.
    package init(issuerID: String, keyID: String, appID: Int64, pem: String) throws {
        self.issuerID = issuerID
        self.keyID = keyID
        self.appID = appID
        key = try P256.Signing.PrivateKey(pemRepresentation: pem)
    }

    /// Reads it from `appStore` of `stores.json`; nil: nobody is to ask.
    ///
    /// - Throws: `InputFault` with the member's path, and what `file` throws.
    init?(_ reader: ObjectReader, _ file: (String) throws -> [UInt8]) throws {
        let (name, keyID) = try (reader.text("connectKeyFile"), reader.text("connectKeyId"))
        if name == nil && keyID == nil { return nil }
        guard let name else { throw reader.fault("connectKeyFile", "required beside connectKeyId") }
        guard let keyID else {
            throw reader.fault("connectKeyId", "required beside connectKeyFile")
        }
        guard let issuerID = try reader.text("issuerId") else {
            throw reader.fault("issuerId", "required beside connectKeyFile")
        }
        guard let appID = try reader.integer("appAppleId") else {
            throw reader.fault("appAppleId", "required beside connectKeyFile")
        }
        let pem = String(decoding: try file(name), as: UTF8.self)
        do {
            try self.init(issuerID: issuerID, keyID: keyID, appID: appID, pem: pem)
        } catch {
            throw reader.fault(
                "connectKeyFile",
                "expected a P-256 key in PEM, as App Store Connect gives it (.p8)"
            )
        }
    }

    /// The token of one question.
    func token(at now: Instant) throws -> String {
        let seconds = now.milliseconds / 1000
        return try SignedClaims.text(
            header: .members(["alg": "ES256", "kid": .string(keyID), "typ": "JWT"]),
            claims: .members([
                "iss": .string(issuerID), "iat": .integer(seconds),
                "exp": .integer(seconds + Self.lifetime), "aud": "appstoreconnect-v1",
            ])
        ) { Array(try key.signature(for: $0).rawRepresentation) }
    }
}
