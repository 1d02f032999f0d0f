/// What commands and the server go by where no flag says otherwise: each setting by its name in the
/// configuration file, which its variable has too, as `ENTITLE_BODY_BYTES` is of `bodyBytes`.
package enum Setting: String, CaseIterable, Sendable {
    // Of every command.

    /// The ledger's directory.
    case ledger
    /// Production, sandbox or local.
    case environment
    /// A file with the master key.
    case keyFile
    /// The master key itself, for services whose secrets are variables.
    case key
    /// A command that prints the master key.
    case keyCommand
    /// Address space that log and vault begin with, for systems that limit it.
    case mapBytes
    /// Memory for what customers may use now (512 MiB).
    case accessCacheBytes

    // Of the server; secrets are files, never values.

    /// The address to listen on, or `unix:` and the path of a socket.
    case host
    /// The port; 0 picks one.
    case port
    /// A file in the form of `stores.json`.
    case stores
    /// A certificate chain in PEM.
    case tlsCertificateFile
    /// Its private key in PEM.
    case tlsKeyFile
    /// Whose tokens let customers in, a JWK set or PEM.
    case customerKeysFile
    /// What a token's `iss` must be.
    case customerIssuer
    /// What a token's `aud` must hold.
    case customerAudience
    /// The least level of log lines: trace, debug, info, notice, warning, error or critical.
    case logLevel
    /// Quotas such as `keys=60000/60,customers=600/60`, requests and seconds; of `appends` bytes and
    /// seconds.
    case limits
    /// Networks such as `10.0.0.0/8,fd00::/8` whose `X-Forwarded-For` is believed.
    case trustedProxies
    /// Origins such as `https://app.example.com` whose pages may ask from a browser.
    case origins
    /// How many connections may be open at once.
    case connections
    /// How many of them from one address, trusted proxies apart.
    case connectionsPerAddress
    /// What the bodies of all requests may hold together.
    case bodyBytes
    /// Seconds between two drift checks; 0: none.
    case driftSeconds
    /// Customers of a drift check.
    case driftSample
    /// Seconds between two looks for purchases of which a store has not told; 0: none.
    case storeSeconds
    /// Seconds for which a store that renews purchases may say nothing (86 400); 0: as long as it likes.
    case silenceSeconds
    /// Seconds between two questions to the stores about everybody (604 800); 0: none.
    case backfillSeconds
    /// Seconds after which certificate, stores and keys are read again (3600); 0: only at SIGHUP.
    case trustSeconds
    /// Seconds between two looks at the figures of reports; 0: none.
    case reportSeconds
    /// Milliseconds that stages of purchase flows may take, such as `5000,store:8000` (5000): slower ones are an alert.
    case stageThresholds
    /// Seconds between two quick audits; 0: none.
    case auditSeconds
    /// Seconds between two audits of everything; 0: none.
    case auditFullSeconds
    /// Seconds between two loads of stores' products (21 600); 0: none.
    case productSeconds
    /// Seconds after which a signed snapshot is old (2 592 000).
    case snapshotSeconds
    /// Whether webhooks that are added over HTTP may be sent to networks of one's own, without TLS.
    case privateWebhooks
    /// The directory that the log is archived in, behind its writing.
    case archive
    /// Seconds between two runs of the archive (300); 0: none.
    case archiveSeconds
    /// Seconds between two signed checkpoints (300); 0: none.
    case checkpointSeconds
    /// Whether checkpoints and hash tiles are for everybody.
    case publicLog
    /// A directory in which each checkpoint is put.
    case publish
    /// Where spans of requests are posted to, such as `http://127.0.0.1:4318/v1/traces` (OTLP, JSON).
    case tracesEndpoint
    /// Of a hundred traces that begin here, those that are sent (100).
    case tracesPercent
    /// Where the app's terms of use are, for paywalls.
    case termsPage
    /// Where the app's privacy policy is, for paywalls.
    case privacyPage
    /// Where the app's support is, for customers' pages; `mailto:` is taken.
    case supportPage

    /// Whether it is never shown, nor taken from a file, which somebody else may have put there.
    package var isSecret: Bool { self == .key || self == .keyCommand }

    /// What the names of all variables begin with.
    package static let variablePrefix = "ENTITLE_"

    /// The variable that sets it.
    package var variable: String {
        Self.variablePrefix
            + rawValue.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
    }
}
