import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerOperations
import LedgerServer
import Scenarios
import StoreSimulator

/// The command `entitle demo`.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "A year of made-up customers, served: one command to see everything.",
        discussion: HelpText.discussion(
            """
            Makes a ledger in a temporary directory with what the simulated App Store sent in the last \
            year, verified, each message recorded when it was sent, and serves it until it is ended. The \
            ledger is gone then. With --json it says where it listens as one JSON line, as `serve` does, and \
            nothing else.
            """,
            HelpText.noLedger,
            examples: "entitle demo"
        )
    )

    @OptionGroup var common: CommonOptions
    @Option(help: "The port; 0 picks one.") var port = 0
    @Option(help: "The port of the devices' App Store; 0 picks one.") var storePort = 0
    @Option(help: "So many customers.") var customers = 200
    @Option(help: "Makes other customers.") var seed: UInt64 = 1

    private static let customerLimit = 10_000

    func run() async throws {
        guard (1...Self.customerLimit).contains(customers) else {
            throw OperationFault(
                .usage,
                "expected 1 to \(Self.customerLimit)",
                place: "--customers"
            )
        }
        try PortArgument.require(port)
        try PortArgument.require(storePort, place: "--store-port")
        Interrupt.catchSignals()
        let place = try TemporaryLedger()
        defer { place.remove() }
        let clock = SimulatedClock(SystemClock.now)
        let open = try place.open(catalog: nil, clock: { clock.now })
        do {
            let now = clock.now
            let store = SimulatedAppStore(authority: try ScenarioRun.authority(around: now))
            let year = SimulatedYear(
                customers: customers,
                until: now,
                seed: seed,
                authority: store.authority
            )
            let count = try await year.record(in: open.ledger)
            // Whoever ended it meanwhile waits for no server.
            if Interrupt.isRaised { throw ExitCode(.interrupted) }
            Terminal.note("\(count) messages of the App Store, \(customers) customers")
            try Self.trust(store, at: place.path)
            let devices = SimulatedDeviceAPI(
                store,
                products: ScenarioProducts.sold,
                known: year.bought,
                clock: { clock.now }
            )
            let desk = DemoStore(
                store,
                devices,
                products: ScenarioProducts.sold,
                clock: clock,
                key: place.key
            )
            try await serve(open, at: place, devices, desk, now)
        } catch let error where LedgerServer.isAddressFault(error) {
            open.close(after: error)
            throw OperationFault(
                .cannotListen,
                "the address cannot be listened on",
                place: "\(StoreStandIn.host):\(storePort)",
                hint: "choose another --store-port; 0 picks one"
            )
        } catch {
            open.close(after: error)
            throw error
        }
        open.end(warn: Terminal.warn)
    }

    /// Serves the ledger while devices can buy.
    private func serve(
        _ open: OpenLedger,
        at place: TemporaryLedger,
        _ devices: SimulatedDeviceAPI,
        _ desk: DemoStore,
        _ now: Instant
    ) async throws {
        try await StoreStandIn.serve(port: storePort, devices.transport) {
            [port, json = common.json] storePort in
            let stores = "http://\(StoreStandIn.host):\(storePort)"
            try await Serve.parse(["--port", String(port)] + (json ? ["--json"] : [])).serve(
                open,
                at: place.path,
                key: place.key,
                beside: desk,
                masterKey: { place.masterKey },
                isListening: { server in
                    if json { return }
                    Self.invite(server, key: place.key, stores: stores, at: now)
                }
            )
        }
    }

    /// Lets the ledger take what the made-up store signs, and nobody else's (Stores, rule 9).
    private static func trust(_ store: SimulatedAppStore, at path: String) throws {
        let root = "app-store-root.pem"
        let configuration = JSONValue.members([
            "appStore": .members([
                "bundleIds": .strings([store.bundleID]), "appAppleId": .integer(store.appAppleID),
                "roots": .strings([root]), "builtInRoots": .bool(false),
            ])
        ])
        try OutputFile.write(store.authority.rootPEM, to: path + "/" + root)
        try OutputFile.write(configuration.description, to: path + "/stores.json")
    }

    /// Five questions to begin with, and an app that buys.
    private static func invite(
        _ server: LedgerServer.Listening,
        key: String,
        stores: String,
        at now: Instant
    ) {
        let url = server.address
        let past = now.advanced(byMilliseconds: -90 * Instant.millisecondsPerDay)
        let ask = "curl -sH 'Authorization: Bearer \(key)' '\(url)"
        let customer = "/v1/customers/\(SimulatedYear.customer(3))"
        Terminal.lines([
            "", "What a customer has, and had as it was known 90 days ago:",
            "  \(ask)\(customer)'", "  \(ask)\(customer)?at=\(past)&known=\(past)'",
            "Why, and since when:", "  \(ask)\(customer)/explain?feature=export'",
            "  \(ask)\(customer)/timeline'", "How everybody does:",
            "  \(ask)/v1/reports/customers'",
            "Buy in an app (its commands: open export, buy pro.month, restore, offline, online):",
            "  swift run entitle-example \(url) \(key) \(stores)",
            "In a browser (the link lets in once):", "  \(server.makeConsoleLink())", "",
        ])
    }
}
