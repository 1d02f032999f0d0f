import Encodings
import Entitlements
import LedgerAPI
import Synchronization

@testable import EntitlementClient

/// A whole client over a scripted server and a simulated store.
struct ServiceSetup: Sendable {
    var server = ScriptedServer()
    var storage = MemoryStorage()
    var time = HeldTime()
    var customer: CustomerID? = SnapshotAuthority.customer
    var isEnabled = true
    var backoff = Backoff()
    /// What carries calls in place of the server's own transport; nil: that.
    var transport: ClientTransport?
    var token: @Sendable () async throws -> String = { "token" }
    let shop: ScriptedPurchases
    /// The store in place of `shop`; nil: that.
    var store: (any PurchaseServicing)?

    /// `result`: what comes of a purchase.
    init(_ result: PurchaseResult = .success(sampleTransaction())) {
        self.init { _, _ in result }
    }

    init(sell: @escaping @Sendable (String, CustomerID) async -> PurchaseResult) {
        shop = ScriptedPurchases(
            [SoldProduct(id: "pro.month", name: "Pro", price: "4.99")],
            sell: sell
        )
        server.set(until: noon)
    }

    /// A client as a program that begins makes it.
    func service() -> EntitlementService {
        var configuration = ServiceConfiguration(
            serverURL: "https://ledger.test",
            folder: "/nowhere",
            customer: customer,
            time: time.time,
            transport: transport ?? server.transport,
            token: token
        )
        configuration.purchases = store ?? shop
        configuration.arePurchasesEnabled = isEnabled
        configuration.builtInGates = try? sampleGates()
        return EntitlementService(configuration, storage: storage, backoff: backoff)
    }

    /// What was told of flows: the types.
    var flowTypes: [String] { server.flows.compactMap { $0["type"]?.string } }
}

extension PurchaseFlow {
    /// Each state until the end.
    func states() async -> [State] {
        var states: [State] = []
        for await step in steps { states.append(step.state) }
        return states
    }
}
