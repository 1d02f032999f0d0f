import Crypto
import CryptoExtras
import Encodings
package import Entitlements

/// The keys by which the simulated stores sign, and by which they are asked: nobody's but theirs.
///
/// No default configuration trusts them: whoever wants to must list them.
package struct SimulatedKeys: Sendable {
    /// The App Store's authority.
    package let authority: SigningAuthority
    /// By which its API is asked, in PEM.
    package let appStoreKeyPEM: String
    /// Google Play with its keys.
    package let playStore: SimulatedPlayStore
    /// By which its API is signed in to, in PEM.
    package let playAccountKeyPEM: String
    /// By which RevenueCat's API is asked.
    package let revenueCatKey: String
    /// What its webhooks prove themselves with.
    package let revenueCatAuthorization: String

    /// RevenueCat's name of the app.
    package static let revenueCatProject = "proj1"

    /// Makes new keys; certificates are valid from the one end of `validity` to the other.
    ///
    /// Cost: three keys of RSA, half a second.
    package init(validity: Range<Instant>) throws {
        func secret(_ prefix: String) -> String {
            prefix + Hexadecimal.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        }
        authority = try SigningAuthority(validity: validity)
        appStoreKeyPEM = P256.Signing.PrivateKey().pemRepresentation
        playStore = try SimulatedPlayStore()
        playAccountKeyPEM = try _RSA.Signing.PrivateKey(keySize: .bits2048).pkcs8PEMRepresentation
        revenueCatKey = secret("sk_simulated_")
        revenueCatAuthorization = secret("Bearer ")
    }

    /// The keys as texts by the names of files that only their owner may read.
    package var files: KeyValuePairs<String, String> {
        let play = playStore.keyPEMs
        return [
            "app-store-authority.pem": authority.pem, "app-store-key.p8": appStoreKeyPEM,
            "play-license-key.pem": play.license, "play-push-key.pem": play.token,
            "play-account-key.pem": playAccountKeyPEM, "revenuecat-key": revenueCatKey,
            "revenuecat-authorization": revenueCatAuthorization,
        ]
    }

    /// Reads what `files` gives; `file`: the text of a name.
    ///
    /// - Throws: what is wrong with a key, and what `file` throws.
    package init(file: (String) throws -> String) throws {
        authority = try SigningAuthority(pem: file("app-store-authority.pem"))
        appStoreKeyPEM = try file("app-store-key.p8")
        playStore = try SimulatedPlayStore(
            licenseKeyPEM: file("play-license-key.pem"),
            tokenKeyPEM: file("play-push-key.pem")
        )
        playAccountKeyPEM = try file("play-account-key.pem")
        revenueCatKey = try file("revenuecat-key")
        revenueCatAuthorization = try file("revenuecat-authorization")
    }
}
