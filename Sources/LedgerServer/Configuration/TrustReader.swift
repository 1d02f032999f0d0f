import Encodings
import Entitlements
import LedgerOperations
import Logging
import Stores
import Synchronization

/// Reads whom a server trusts, as it is set, again while it runs.
///
/// What stands as it stood is kept with all that was learned since: the keys that Google hands out, and when
/// a store wants to be asked again.
final class TrustReader: Sendable {
    private let settings: Settings
    private let path: String
    private let logger: Logger
    private let kept = Mutex(Kept())

    private struct Kept {
        var stores: (bytes: [[UInt8]], access: StoreAccess)?
        var customers: (text: String, verifier: CustomerTokenVerifier)?
    }

    init(_ settings: Settings, ofLedgerAt path: String, _ logger: Logger) {
        self.settings = settings
        self.path = path
        self.logger = logger
    }

    /// Reads it.
    ///
    /// - Throws: `OperationFault` for what is not in order; then what was read before is kept.
    func read() async throws -> ServerTrust {
        ServerTrust(stores: try stores(), customers: try await customers(), tls: try tls())
    }

    private func stores() throws -> StoreAccess {
        guard let contents = try StoresFile.contents(settings[.stores], ofLedgerAt: path) else {
            kept.withLock { $0.stores = nil }
            return StoreAccess()
        }
        let before = kept.withLock(\.stores)
        if let before, before.bytes == contents.bytes { return before.access }
        let configuration = contents.configuration
        let appStore = try StoresFile.appStoreVerifier(configuration)
        let access = StoreAccess(
            appStore: appStore,
            playStore: configuration.playStore,
            playPush: PlayPushVerifier(
                configuration.playStore?.push,
                before: before?.access.playPush
            ),
            clients: StoreClients(configuration, verifier: appStore, clock: SystemClock.now),
            revenueCat: RevenueCatAuthentication(
                authorization: configuration.revenueCat?.authorization,
                hmacSecret: configuration.revenueCat?.hmacSecret
            )
        )
        kept.withLock { $0.stores = (contents.bytes, access) }
        return access
    }

    private func customers() async throws -> CustomerTokenVerifier? {
        guard let place = settings[.customerKeysFile] else { return nil }
        let text = String(decoding: try ConfigurationFile.read(place, ledger: path), as: UTF8.self)
        if let before = kept.withLock(\.customers), before.text.isSame(as: text) {
            return before.verifier
        }
        let keys: TokenKeys
        do {
            keys = try await TokenKeys(text)
        } catch {
            throw OperationFault(
                .configuration,
                "the keys of customer tokens: \(error.detail)",
                place: place
            )
        }
        let (issuer, audience) = (settings[.customerIssuer], settings[.customerAudience])
        // Whatever else the issuer signs with these keys, for another service say, lets in too.
        for (setting, value) in [(Setting.customerIssuer, issuer), (.customerAudience, audience)]
        where value == nil {
            logger.warning("customers' tokens are not held against \(setting.rawValue): set it")
        }
        let verifier = CustomerTokenVerifier(keys: keys, issuer: issuer, audience: audience)
        kept.withLock { $0.customers = (text, verifier) }
        return verifier
    }

    private func tls() throws -> LedgerServer.TLS? {
        let (certificate, key) = (settings[.tlsCertificateFile], settings[.tlsKeyFile])
        guard let certificate, let key else {
            guard certificate == nil, key == nil else {
                throw OperationFault(
                    .configuration,
                    "TLS needs a certificate and its key",
                    place: certificate ?? key
                )
            }
            return nil
        }
        do {
            return try LedgerServer.TLS(
                certificate: ConfigurationFile.read(certificate, ledger: path),
                key: ConfigurationFile.read(key, ledger: path)
            )
        } catch let fault as OperationFault {
            throw fault
        } catch {
            throw OperationFault(
                .configuration,
                "not a certificate chain and its key in PEM",
                place: certificate
            )
        }
    }
}
