import NIOCore
import NIOSSL
import Synchronization

/// Whom a server trusts and how it shows who it is: what it reads again at SIGHUP.
///
/// API keys are read again by themselves (``KeyRing``).
package struct ServerTrust: Sendable {
    /// Whose signals are taken.
    package var stores: StoreAccess
    /// Who issues customer tokens; nil: none are taken.
    package var customers: CustomerTokenVerifier?
    /// Certificate and key; nil: no encryption.
    package var tls: LedgerServer.TLS?

    /// Names all three.
    package init(
        stores: StoreAccess = StoreAccess(),
        customers: CustomerTokenVerifier? = nil,
        tls: LedgerServer.TLS? = nil
    ) {
        self.stores = stores
        self.customers = customers
        self.tls = tls
    }
}

/// The trust that holds now.
final class RenewedTrust: Sendable {
    private let trust: Mutex<ServerTrust>

    init(_ trust: ServerTrust) { self.trust = Mutex(trust) }

    /// As it was read last.
    var current: ServerTrust { trust.withLock(\.self) }

    /// Takes what was read again.
    ///
    /// A server that speaks TLS goes on to: its port would change its language in the middle.
    func renew(_ renewed: ServerTrust) {
        trust.withLock { trust in
            let tls = renewed.tls ?? trust.tls
            trust = renewed
            trust.tls = tls
        }
    }

    /// How a connection that begins is encrypted: by the certificate that holds then.
    func tlsConfiguration(_ first: LedgerServer.TLS) -> TLSConfiguration {
        var configuration = first.configuration
        configuration.sslContextCallback = { [self] _, promise in
            var renewed = NIOSSLContextConfigurationOverride()
            if let tls = current.tls {
                renewed.certificateChain = tls.configuration.certificateChain
                renewed.privateKey = tls.configuration.privateKey
            }
            promise.succeed(renewed)
        }
        return configuration
    }
}
