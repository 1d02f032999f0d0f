import Encodings
import Entitlements
import SwiftASN1
import X509

/// What `stores.json` says: which stores are listened to, and what their messages are checked
/// against.
///
/// Secrets stand in files of their own, which the file names.
package struct StoresConfiguration: Sendable {
    /// The App Store; nil: its messages are refused.
    package var appStore: AppStoreConfiguration?
    /// Whether the App Store's authority is asked about revocation (`AppStoreRevocationCheck`,
    /// for which the server has the transport).
    package var checksRevocation = false
    /// How to ask the App Store, for fetching.
    package var appStoreAccess: AppStoreAccess?
    /// How to ask what the App Store sells.
    package var appStoreConnectAccess: AppStoreConnectAccess?
    /// Google Play; nil: its messages are refused.
    package var playStore: PlayConfiguration?
    /// RevenueCat; nil: its messages are refused.
    package var revenueCat: RevenueCatConfiguration?

    /// No store at all.
    package init() {}

    /// Reads the text of `stores.json`.
    ///
    /// - Parameters:
    ///   - bytes: One JSON object; a member that is not known is refused.
    ///   - file: Gives the bytes of a file that is named in it.
    /// - Throws: `InputFault` with the member's path, and what `file` throws.
    package init(parsing bytes: [UInt8], file: (String) throws -> [UInt8]) throws {
        let json: JSONValue
        do throws(JSONFault) {
            json = try JSONValue(parsing: bytes)
        } catch {
            throw InputFault(.invalidValue, "", "\(error.message) at byte \(error.offset)")
        }
        _ = try ObjectReader(json, of: ["appStore", "playStore", "revenueCat"])
        // Apple's, which are there with the App Store alone.
        var hasBuiltInRoots = false
        if let member = json.present("appStore") {
            let reader = try ObjectReader(member, at: "appStore", of: Self.appStoreNames)
            appStore = try Self.appStore(reader, file)
            checksRevocation = try reader.flag("checkRevocation") ?? false
            appStoreAccess = try AppStoreAccess(reader, file)
            appStoreConnectAccess = try AppStoreConnectAccess(reader, file)
            hasBuiltInRoots = try reader.flag("builtInRoots") ?? true
            if hasBuiltInRoots { try Self.refuseAddresses(reader) }
        }
        if let member = json.present("revenueCat") {
            let reader = try ObjectReader(member, at: "revenueCat", of: Self.revenueCatNames)
            revenueCat = try Self.revenueCat(reader, file)
            if hasBuiltInRoots { try Self.refuseAddresses(reader) }
        }
        if let member = json.present("playStore") {
            let reader = try ObjectReader(member, at: "playStore", of: Self.playStoreNames)
            playStore = try PlayConfiguration(reader, file)
            if hasBuiltInRoots { try Self.refuseAddresses(reader) }
        }
    }

    /// Refuses other addresses than a store's own: a simulator's word never counts beside what a store
    /// signed (Stores, rule 9).
    private static func refuseAddresses(_ reader: ObjectReader) throws(InputFault) {
        for name in ["apiURL", "tokenURL", "jwksURL"] where reader.json.present(name) != nil {
            throw reader.fault(name, "allowed with \"builtInRoots\": false only")
        }
    }

    private static let appStoreNames: Set<Name> = [
        "bundleIds", "appAppleId", "environments", "roots", "builtInRoots", "checkRevocation",
        "issuerId", "keyId", "privateKeyFile", "apiURL", "connectKeyFile", "connectKeyId",
    ]
    private static let playStoreNames: Set<Name> = [
        "packageNames", "licenseKeys", "pushAudience", "pushServiceAccount",
        "serviceAccountFile", "apiURL", "tokenURL", "jwksURL",
    ]
    private static let revenueCatNames: Set<Name> = [
        "authorizationFile", "hmacSecretFile", "apiKeyFile", "projectId", "apiURL",
    ]
}

/// What RevenueCat's webhooks are checked against, and who asks its API.
package struct RevenueCatConfiguration: Hashable, Sendable {
    /// What the authorization header must be; nil: none is asked for.
    package var authorization: [UInt8]?
    /// The secret of the HMAC; nil: none is asked for.
    package var hmacSecret: [UInt8]?
    /// The secret key for RevenueCat's API, of version 2 where there is a project; nil: nobody asks it.
    package var apiKey: [UInt8]?
    /// The project in RevenueCat's API; nil: version 1 of it is asked.
    package var projectID: String?
    /// Where the API is; nil: RevenueCat's own address.
    package var apiURL: String?
}

extension StoresConfiguration {
    private static func appStore(
        _ reader: ObjectReader,
        _ file: (String) throws -> [UInt8]
    ) throws -> AppStoreConfiguration {
        guard let bundleIDs = try reader.texts("bundleIds"), !bundleIDs.isEmpty else {
            throw reader.fault("bundleIds", "expected one bundle id or more")
        }
        let appAppleID = try reader.integer("appAppleId")
        let environments = try Self.environments(reader)
        guard appAppleID != nil || !environments.contains(.production) else {
            throw reader.fault("appAppleId", "required where production is accepted")
        }
        let isBuiltIn = try reader.flag("builtInRoots") ?? true
        var roots = isBuiltIn ? AppStoreConfiguration.builtInRoots : []
        for (index, name) in try (reader.texts("roots") ?? []).enumerated() {
            roots += try certificates(file(name), reader, "roots[\(index)]")
        }
        guard !roots.isEmpty else { throw reader.fault("roots", "expected one root or more") }
        return AppStoreConfiguration(
            bundleIDs: Set(bundleIDs),
            appAppleID: appAppleID,
            environments: environments,
            roots: roots
        )
    }

    private static func environments(
        _ reader: ObjectReader
    ) throws -> Set<StoreEnvironment> {
        guard let names = try reader.texts("environments") else { return [.production, .sandbox] }
        var environments: Set<StoreEnvironment> = []
        for (index, name) in names.enumerated() {
            guard let environment = StoreEnvironment(name: name), environment != .local else {
                throw reader.fault("environments[\(index)]", "expected production or sandbox")
            }
            environments.insert(environment)
        }
        guard !environments.isEmpty else {
            throw reader.fault("environments", "expected one environment or more")
        }
        return environments
    }

    /// DER is one certificate, PEM one or more.
    private static func certificates(
        _ bytes: [UInt8],
        _ reader: ObjectReader,
        _ name: String
    ) throws -> [[UInt8]] {
        var certificates = [bytes]
        if bytes.starts(with: Array("-----BEGIN".utf8)) {
            // Whatever the parser finds, it is not PEM.
            let documents = try? PEMDocument.parseMultiple(
                pemString: String(decoding: bytes, as: UTF8.self)
            )
            certificates = documents?.map(\.derBytes) ?? []
        }
        // A key is no certificate either.
        guard !certificates.isEmpty,
            certificates.allSatisfy({ (try? Certificate(derEncoded: $0)) != nil })
        else { throw reader.fault(name, "expected PEM or DER certificates") }
        return certificates
    }

    private static func revenueCat(
        _ reader: ObjectReader,
        _ file: (String) throws -> [UInt8]
    ) throws -> RevenueCatConfiguration {
        let authorization = try secret("authorizationFile", reader, file)
        let hmacSecret = try secret("hmacSecretFile", reader, file)
        return RevenueCatConfiguration(
            authorization: authorization,
            hmacSecret: hmacSecret,
            apiKey: try apiKey(reader, file),
            projectID: try reader.text("projectId"),
            apiURL: try reader.address("apiURL")
        )
    }

    /// A key without its scheme, such as stands in a header.
    private static func apiKey(
        _ reader: ObjectReader,
        _ file: (String) throws -> [UInt8]
    ) throws -> [UInt8]? {
        guard let secret = try secret("apiKeyFile", reader, file) else { return nil }
        let key = Array(secret.starts(with: scheme) ? secret.dropFirst(scheme.count) : secret[...])
        guard key.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw reader.fault("apiKeyFile", "expected visible characters of ASCII alone")
        }
        return key
    }

    /// What stands before a secret in a header: known to everybody.
    private static let scheme = Array("Bearer ".utf8)

    /// Bytes of a secret at least: 128 bits, if they are random.
    static let secretByteMinimum = 16

    /// A secret without the line's end that editors add.
    private static func secret(
        _ name: String,
        _ reader: ObjectReader,
        _ file: (String) throws -> [UInt8]
    ) throws -> [UInt8]? {
        guard let path = try reader.text(name) else { return nil }
        var secret = try file(path)
        while let last = secret.last, last == 0x0A || last == 0x0D { secret.removeLast() }
        let own = secret.starts(with: scheme) ? secret.dropFirst(scheme.count) : secret[...]
        guard own.count >= secretByteMinimum else {
            throw reader.fault(name, "expected a secret of at least \(secretByteMinimum) bytes")
        }
        return secret
    }
}
