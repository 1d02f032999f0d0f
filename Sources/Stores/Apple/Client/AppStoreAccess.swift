import Crypto
import Encodings
import Entitlements

/// Who asks the App Store Server API: a key of App Store Connect
/// (developer.apple.com/documentation/appstoreserverapi/creating-api-keys-to-authorize-api-requests).
package struct AppStoreAccess: Sendable {
    let issuerID: String
    let keyID: String
    /// Nil: the App Store's own addresses.
    package let apiURL: String?
    private let key: P256.Signing.PrivateKey

    /// Seconds for which a token is good: longer than a question waits for its turn and for a store that was
    /// asked too often; the App Store takes an hour at most.
    private static let lifetime: Int64 = 900

    /// Names a key; `pem`: as App Store Connect gives it.
    ///
    /// - Throws: what is wrong with the key's text.
    package init(issuerID: String, keyID: String, pem: String, apiURL: String? = nil) throws {
        self.issuerID = issuerID
        self.keyID = keyID
        self.apiURL = apiURL
        key = try P256.Signing.PrivateKey(pemRepresentation: pem)
    }

    /// Reads it from `appStore` of `stores.json`; nil: nobody is to ask.
    ///
    /// - Throws: `InputFault` with the member's path, and what `file` throws.
    init?(_ reader: ObjectReader, _ file: (String) throws -> [UInt8]) throws {
        let apiURL = try reader.address("apiURL")
        let names = ["issuerId", "keyId", "privateKeyFile"]
        let members = try names.map { try reader.text($0) }
        let given = members.compactMap(\.self)
        // An issuer has keys for App Store Connect, too.
        let isConnect = try members[0] != nil && reader.text("connectKeyFile") != nil
        if given.count == (isConnect ? 1 : 0) { return nil }
        guard given.count == names.count else {
            let missing = zip(names, members).first { $0.1 == nil }
            throw reader.fault(missing?.0 ?? "", "issuerId, keyId and privateKeyFile go together")
        }
        let pem = String(decoding: try file(given[2]), as: UTF8.self)
        do {
            try self.init(issuerID: given[0], keyID: given[1], pem: pem, apiURL: apiURL)
        } catch {
            throw reader.fault(
                "privateKeyFile",
                "expected a P-256 key in PEM, as App Store Connect gives it (.p8)"
            )
        }
    }

    /// The token of one question, for one app
    /// (developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests).
    func token(bundleID: String, at now: Instant) throws -> String {
        let seconds = now.milliseconds / 1000
        return try SignedClaims.text(
            header: .members(["alg": "ES256", "kid": .string(keyID), "typ": "JWT"]),
            claims: .members([
                "iss": .string(issuerID), "iat": .integer(seconds),
                "exp": .integer(seconds + Self.lifetime), "aud": "appstoreconnect-v1",
                "bid": .string(bundleID),
            ])
        ) { Array(try key.signature(for: $0).rawRepresentation) }
    }
}
