import Encodings
import EntitlementClient
import Entitlements
import Foundation
import Synchronization

/// An app for a terminal: it buys, restores, goes offline and comes back.
@main
struct EntitleExample {
    /// What is sold, as `GET /v1/catalog/gates` says it: for before any server was reached.
    private static let gates = #"""
        {"tiers":["free","pro"],"features":{"export":{"level":"pro","products":["pro.month"]}},
         "products":{"pro.month":{"kind":"auto_renewable","tier":"pro","features":["export"]}}}
        """#

    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count >= 4 else {
            return say("usage: entitle-example SERVER KEY STORE [FOLDER [ACCOUNT]]")
        }
        let folder = words.count > 4 ? words[4] : NSTemporaryDirectory() + "entitle-example"
        let account = words.count > 5 ? words[5] : "alice"
        let (server, network) = (URLSessionTransport().transport, Network())
        var configuration = ServiceConfiguration(
            serverURL: words[1],
            folder: folder,
            customer: CustomerID(account),
            time: ClientTime(date: { Date() }),
            transport: { network.isCut.load(ordering: .relaxed) ? nil : await server($0) },
            token: { words[2] }
        )
        configuration.builtInGates = try GateMap(json: JSONValue(parsing: Array(gates.utf8)))
        configuration.purchases = SimulatedPurchases(url: words[3], account: account)
        let shop = Shop(configuration)
        await shop.launch()
        while let line = readLine() {
            let typed = line.split(separator: " ").map(String.init)
            switch (typed.first, typed.dropFirst().first) {
            case ("open", let feature?): say(shop.use(feature))
            case ("buy", let product?): say(await shop.buy(product) { true })
            case ("restore", nil): say(await shop.restore())
            case ("offline", nil): network.isCut.store(true, ordering: .relaxed)
            case ("online", nil):
                network.isCut.store(false, ordering: .relaxed)
                say("\(await shop.service.retry())")
            default: say("open FEATURE, buy PRODUCT, restore, offline, online")
            }
        }
        await shop.service.stop()
    }

    /// At once, whoever reads it.
    private static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    private final class Network: Sendable { let isCut = Atomic(false) }
}
