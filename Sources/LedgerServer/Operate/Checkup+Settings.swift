import Encodings
package import EntitlementLedger
import Entitlements
import LedgerAPI
package import LedgerOperations
import NIOSSL
package import Stores

/// Whether a server would start with what is set, whom it would let in, and until when.
extension Checkup {
    /// Days before the end of a certificate in which it is to be replaced.
    private static let certificateDays: Int64 = 30
    /// Days before the end of a store's root.
    private static let rootDays: Int64 = 180

    /// Looks at what a server would be run with.
    ///
    /// `ledger`: open, to be read.
    package mutating func lookAtServer(_ ledger: Ledger) async {
        do {
            _ = try await ServerConfiguration(settings, ofLedgerAt: path) { _ in }.options(ledger)
        } catch {
            add(
                .configurationRefused,
                error,
                do: "mend the setting: a server does not start with it"
            )
        }
        lookAtSettings()
    }

    /// The same of a server that runs, and so has taken what is set.
    mutating func lookAtSettings() {
        lookAtListening()
        lookAtLimits()
        lookAtKeys()
        if settings[.customerKeysFile] != nil {
            for setting in [Setting.customerIssuer, .customerAudience]
            where settings[setting] == nil {
                add(
                    .tokensUnbound,
                    "customers' tokens are not held against it: what the issuer signs for another "
                        + "service lets in too",
                    at: setting.rawValue,
                    do: "set \(setting.variable)"
                )
            }
        }
        if settings[.privateWebhooks] == "true" {
            add(
                .privateWebhooks,
                "webhooks that are added over HTTP may be sent to networks of one's own",
                at: Setting.privateWebhooks.rawValue,
                do: "nothing, where only those are trusted who have a key of admin; else take it "
                    + "away"
            )
        }
    }

    private mutating func lookAtListening() {
        let host = settings[.host] ?? "127.0.0.1"
        // A socket's file is this machine's.
        let isOwn =
            host.hasPrefix("127.") || ["::1", "localhost"].contains { host == $0 }
            || host.hasPrefix(LedgerServer.Options.socketPrefix)
        if !isOwn, settings[.tlsCertificateFile] == nil, settings[.trustedProxies] == nil {
            add(
                .listensInClear,
                "it would listen to others than this machine without TLS: keys go in clear",
                at: "host: \(host)",
                do: "set tlsCertificateFile and tlsKeyFile, or listen on 127.0.0.1 behind a proxy"
            )
        }
        lookAtCertificate()
        if let key = settings[.tlsKeyFile], isOpenToOthers(key) {
            add(
                .tlsKeyOpen,
                "others may read the key of the certificate",
                at: key,
                do: "chmod 600 \(key)"
            )
        }
    }

    private mutating func lookAtCertificate() {
        guard let place = settings[.tlsCertificateFile],
            // What is none is refused by the server, which was asked above.
            let chain = try? NIOSSLCertificate.fromPEMBytes(
                ConfigurationFile.read(place, ledger: path)
            ),
            let end = chain.map(\.end).min()
        else { return }
        let remedy = "renew it; SIGHUP to the server reads it again"
        if end <= now {
            add(.certificateExpired, "the certificate ended at \(end)", at: place, do: remedy)
        } else if isWithin(Self.certificateDays, end) {
            add(.certificateEnding, "the certificate ends at \(end)", at: place, do: remedy)
        }
    }

    private mutating func lookAtLimits() {
        let standard = LedgerServer.Options.standardConnectionLimit
        // One that is no number is refused by the server, which was asked above.
        let wanted = settings[.connections].flatMap { Int($0) } ?? standard
        // Fits: held at what a server takes at most.
        let needed = min(max(wanted, 1), ServerConfiguration.mostConnections) + OpenFiles.reserve
        guard let files = openFiles, files < needed else { return }
        add(
            .openFilesLow,
            "\(files) files may be open, fewer than connections and the ledger need",
            at: "ulimit -n",
            do: "raise it to \(needed) (systemd: LimitNOFILE), or lower connections"
        )
    }

    private mutating func lookAtKeys() {
        // A file that is not in order is refused by the server, which was asked above.
        guard let keys = try? KeyFile.read(at: path).keys else { return }
        let endless = keys.filter { $0.expiresAt == nil }.count
        if endless > 0 {
            add(
                .keysWithoutEnd,
                "\(endless) of \(keys.count) API keys count for ever",
                at: path + "/" + KeyFile.name,
                do: "`entitle keys list`; make new ones with --expires, then revoke the old ones"
            )
        }
    }

    /// Looks until when the roots of the App Store are good.
    package mutating func lookAtRoots(_ stores: StoresConfiguration) {
        for root in stores.appStore?.roots ?? [] {
            // One that is none is refused by the server.
            guard let certificate = try? NIOSSLCertificate(bytes: root, format: .der) else {
                continue
            }
            let end = certificate.end
            if isWithin(Self.rootDays, end) {
                add(
                    .rootEnding,
                    "a root of the App Store ends at \(end)",
                    at: "appStore.roots",
                    do: "install a version with Apple's next root, or name it in appStore.roots"
                )
            }
        }
    }

    /// Whether an instant comes within some days, or is over.
    private func isWithin(_ days: Int64, _ instant: Instant) -> Bool {
        // Fits: a handful of days.
        instant < now.advanced(byMilliseconds: days * Instant.millisecondsPerDay)
    }
}

extension NIOSSLCertificate {
    /// The instant from which on it is good for nothing.
    fileprivate var end: Instant {
        let (milliseconds, overflow) = Int64(notValidAfter).multipliedReportingOverflow(by: 1000)
        return Instant(milliseconds: overflow ? .max : milliseconds)
    }
}
