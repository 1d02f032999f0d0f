public import Encodings
import Entitlements

/// Whose purchases of Google Play are taken, and what proves them.
public struct PlayConfiguration: Sendable {
    /// The apps that this ledger serves, by their package names.
    public var packageNames: Set<Name>
    /// The keys by which Google Play signs what an app hands in, one for each app; none: signed
    /// purchase data is refused.
    public var licenseKeys: [PlayLicenseKey]
    /// Who pushes notifications; nil: only a key with `ingest` vouches for one.
    public var push: PlayPushIdentity?
    /// Who asks the Developer API; nil: nobody, and what a notification hints at waits.
    package var access: PlayAccess?

    /// Makes a configuration.
    public init(
        packageNames: Set<Name>,
        licenseKeys: [PlayLicenseKey] = [],
        push: PlayPushIdentity? = nil
    ) {
        self.packageNames = packageNames
        self.licenseKeys = licenseKeys
        self.push = push
    }
}

/// Who asks the Play Developer API, and where it is.
package struct PlayAccess: Sendable {
    package var account: ServiceAccount
    /// Nil: Google's own address.
    package var apiURL: String?
}

/// Who a push of notifications must come from, as it is set in the Pub/Sub subscription
/// (cloud.google.com/pubsub/docs/authenticate-push-subscriptions).
public struct PlayPushIdentity: Hashable, Sendable {
    /// `aud` of its token.
    public var audience: String
    /// `email` of its token: the service account that signs in.
    public var serviceAccount: String
    /// Where the keys are that its token is signed by: a JWK set (RFC 7517).
    public var keysURL: String

    /// Google's keys (accounts.google.com/.well-known/openid-configuration).
    public static let googleKeysURL = "https://www.googleapis.com/oauth2/v3/certs"

    /// Makes an identity.
    public init(audience: String, serviceAccount: String, keysURL: String = googleKeysURL) {
        self.audience = audience
        self.serviceAccount = serviceAccount
        self.keysURL = keysURL
    }
}

extension PlayConfiguration {
    /// Reads `playStore` of `stores.json`; `file` gives the bytes of a file that it names.
    ///
    /// - Throws: `InputFault` with the member's path, and what `file` throws.
    init(_ reader: ObjectReader, _ file: (String) throws -> [UInt8]) throws {
        guard let packageNames = try reader.texts("packageNames"), !packageNames.isEmpty else {
            throw reader.fault("packageNames", "expected one package name or more")
        }
        var keys: [PlayLicenseKey] = []
        for (index, text) in (try reader.texts("licenseKeys") ?? []).enumerated() {
            guard let key = PlayLicenseKey(base64: text) else {
                throw reader.fault(
                    "licenseKeys[\(index)]",
                    "expected the base64 of an RSA key of \(PlayLicenseKey.bitMinimum) to "
                        + "\(PlayLicenseKey.bitLimit) bits, as the Play Console shows it"
                )
            }
            keys.append(key)
        }
        let (audience, account) = try (
            reader.text("pushAudience"), reader.text("pushServiceAccount")
        )
        // Either alone would let in whoever has a token of Google's.
        guard (audience == nil) == (account == nil) else {
            throw reader.fault(
                audience == nil ? "pushAudience" : "pushServiceAccount",
                "required beside the other one"
            )
        }
        self.init(
            packageNames: Set(packageNames.map { Name($0) }),
            licenseKeys: keys,
            push: try Self.push(audience, account, keysURL: reader.address("jwksURL"))
        )
        access = try Self.access(reader, file)
    }

    private static func push(
        _ audience: String?,
        _ account: String?,
        keysURL: String?
    ) -> PlayPushIdentity? {
        guard let audience, let account else { return nil }
        return PlayPushIdentity(
            audience: audience,
            serviceAccount: account,
            keysURL: keysURL ?? PlayPushIdentity.googleKeysURL
        )
    }

    private static func access(
        _ reader: ObjectReader,
        _ file: (String) throws -> [UInt8]
    ) throws -> PlayAccess? {
        let (apiURL, tokenURL) = try (reader.address("apiURL"), reader.address("tokenURL"))
        guard let name = try reader.text("serviceAccountFile") else { return nil }
        guard let account = ServiceAccount(json: try file(name), tokenURL: tokenURL) else {
            throw reader.fault(
                "serviceAccountFile",
                "expected a service account's key as Google Cloud gives it, in JSON"
            )
        }
        return PlayAccess(account: account, apiURL: apiURL)
    }
}
