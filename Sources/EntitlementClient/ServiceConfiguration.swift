public import Entitlements
import LedgerAPI

/// What a client is made with.
public struct ServiceConfiguration: Sendable {
    /// Where the server is, such as `https://ledger.example.com`.
    public var serverURL: String
    /// A folder of the app's for what is kept; it is made, and left out of backups.
    public var folder: String
    /// The customer; nil: nobody is signed in yet.
    public var customer: CustomerID?
    /// The customer's token, from the app's own backend: asked for before each call.
    public var token: @Sendable () async throws -> String
    /// Keys that alone are trusted; nil: those that the server publishes, fetched and kept.
    public var pinnedKeys: TrustedKeys?
    /// The log's origin, where another server's snapshots shall not count; nil: any.
    public var origin: String?
    /// The gate map of whom no server was ever reached by (row B6); nil: nothing is free then.
    public var builtInGates: GateMap?
    /// Which purchases are asked about.
    public var environment = StoreEnvironment.production
    /// The store of the device; nil: nothing is bought here.
    public var purchases: (any PurchaseServicing)?
    /// Off, nothing is bought or listened to, and everything else is as before (row ES7).
    public var arePurchasesEnabled = true
    /// Clock, pauses and dice.
    public var time: ClientTime
    /// Carries calls.
    public var transport: ClientTransport

    /// Makes a configuration; the rest is set by name.
    public init(
        serverURL: String,
        folder: String,
        customer: CustomerID?,
        time: ClientTime,
        transport: @escaping ClientTransport = URLSessionTransport().transport,
        token: @escaping @Sendable () async throws -> String
    ) {
        self.serverURL = serverURL
        self.folder = folder
        self.customer = customer
        self.time = time
        self.transport = transport
        self.token = token
    }
}
