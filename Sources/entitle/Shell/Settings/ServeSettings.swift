/// What `entitle serve` goes by where no flag says otherwise; secrets are files, never values.
struct ServeSettings {
    /// `host`: the address to listen on.
    var host: String?
    /// `port`: 0 picks one.
    var port: String?
    /// `stores`: a file in the form of `stores.json`.
    var stores: String?
    /// `tlsCertificateFile`: a chain in PEM.
    var tlsCertificateFile: String?
    /// `tlsKeyFile`: its private key in PEM.
    var tlsKeyFile: String?
    /// `customerKeysFile`: whose tokens let customers in, a JWK set or PEM.
    var customerKeysFile: String?
    /// `customerIssuer`: what `iss` must be.
    var customerIssuer: String?
    /// `customerAudience`: what `aud` must hold.
    var customerAudience: String?
    /// `logLevel`: trace, debug, info, notice, warning, error or critical.
    var logLevel: String?
    /// `limits`: quotas such as `keys=60000/60,customers=600/60`, requests and seconds; of
    /// `appends` bytes and seconds.
    var limits: String?
    /// `trustedProxies`: networks such as `10.0.0.0/8,fd00::/8` whose `X-Forwarded-For` is believed.
    var trustedProxies: String?
    /// `connections`: how many may be open at once.
    var connections: String?
    /// `connectionsPerAddress`: how many of them from one address, trusted proxies apart.
    var connectionsPerAddress: String?
    /// `bodyBytes`: what the bodies of all requests may hold together.
    var bodyBytes: String?
    /// `driftSeconds`: between two drift checks; 0: none.
    var driftSeconds: String?
    /// `driftSample`: customers of a drift check.
    var driftSample: String?
    /// `auditSeconds`: between two quick audits; 0: none.
    var auditSeconds: String?
    /// `auditFullSeconds`: between two audits of everything; 0: none.
    var auditFullSeconds: String?
    /// `archive`: the directory that the log is archived in, behind its writing.
    var archive: String?
    /// `checkpointSeconds`: between two signed checkpoints (300); 0: none.
    var checkpointSeconds: String?
    /// `publicLog`: `true` where checkpoints and hash tiles are for everybody.
    var publicLog: String?
    /// `publish`: a directory in which each checkpoint is put.
    var publish: String?

    init() {}

    init(_ value: (String) -> String?) {
        host = value("host")
        port = value("port")
        stores = value("stores")
        tlsCertificateFile = value("tlsCertificateFile")
        tlsKeyFile = value("tlsKeyFile")
        customerKeysFile = value("customerKeysFile")
        customerIssuer = value("customerIssuer")
        customerAudience = value("customerAudience")
        logLevel = value("logLevel")
        limits = value("limits")
        trustedProxies = value("trustedProxies")
        connections = value("connections")
        connectionsPerAddress = value("connectionsPerAddress")
        bodyBytes = value("bodyBytes")
        driftSeconds = value("driftSeconds")
        driftSample = value("driftSample")
        auditSeconds = value("auditSeconds")
        auditFullSeconds = value("auditFullSeconds")
        archive = value("archive")
        checkpointSeconds = value("checkpointSeconds")
        publicLog = value("publicLog")
        publish = value("publish")
    }
}
