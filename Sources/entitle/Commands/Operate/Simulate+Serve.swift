import ArgumentParser
import Encodings
import Entitlements
import Foundation
import LedgerOperations
import LedgerServer
import Scenarios
import StoreSimulator
import Stores

/// How what simulated stores send reaches a backend.
struct FeedOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions
    @Option(help: "The folder with the stores' keys and stores.json; made if it is not there.")
    var out = "simulated-stores"
    @Option(help: "The port at which the stores are asked; 0 picks one.") var port = 8460
    @Option(
        help: ArgumentHelp(
            """
            Whom the stores tell: a ledger's address, or of another backend STORE=URL for each of \
            app_store, play_store and revenuecat.
            """,
            valueName: "url"
        )
    )
    var deliverTo: [String] = []
    @Option(help: "A seed that makes the order in which messages come.") var shuffle: UInt64?
    @Option(help: "So many of 100 messages come twice.") var duplicate = 0
    @Option(help: "So many of 100 messages never come.") var lose = 0
    @Option(help: "Nothing comes, and no store answers, for so many of 100 parts of the time.")
    var outage = 0
    @Option(help: "So many times faster than the time, such as 8640x; by itself, at once.")
    var rate: String?

    private static let rates = 1.0...1e9

    func delivery() throws -> ScenarioDelivery {
        guard [duplicate, lose, outage].allSatisfy((0...100).contains) else {
            throw OperationFault(.usage, "--duplicate, --lose and --outage are 0 to 100")
        }
        return ScenarioDelivery(
            seed: shuffle,
            duplicatePercent: duplicate,
            losePercent: lose,
            outagePercent: outage
        )
    }

    /// How often faster than the time; nil: at once.
    func speed() throws -> Double? {
        guard let rate else { return nil }
        guard rate.hasSuffix("x"), let speed = Double(rate.dropLast()),
            Self.rates.contains(speed)
        else { throw OperationFault(.usage, "expected 1x to 1000000000x", place: "--rate") }
        return speed
    }

    /// Where each store's messages go.
    func targets() throws -> [ScenarioStore: String] {
        var targets: [ScenarioStore: String] = [:]
        for target in deliverTo {
            let parts = target.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2, let store = ScenarioStore(rawValue: parts[0]) {
                targets[store] = try address(parts[1])
                continue
            }
            let url = try address(target)
            for store in ScenarioStore.allCases {
                targets[store] = (url.hasSuffix("/") ? String(url.dropLast()) : url) + store.path
            }
        }
        return targets
    }

    private func address(_ text: String) throws -> String {
        guard ["http://", "https://"].contains(where: { text.hasPrefix($0) }) else {
            throw OperationFault(
                .usage,
                "expected an address, or STORE=ADDRESS",
                place: "--deliver-to"
            )
        }
        return text
    }
}

extension ScenarioStore {
    /// Where a ledger takes its messages.
    fileprivate var path: String {
        switch self {
        case .appStore: "/v1/signals/app-store"
        case .playStore: "/v1/signals/play"
        case .revenueCat: "/v1/signals/revenuecat"
        }
    }
}

extension Simulate {
    /// The command `entitle simulate serve`.
    struct Serve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "serve",
            abstract: "Serves the stores' APIs on this machine, and tells a backend what happens.",
            discussion: HelpText.discussion(
                """
                Writes stores.json and the keys that it names, a catalog and what the scenarios expect \
                into --out; a ledger that is served with it trusts these stores and asks them. Then plays \
                scenarios that end by now, and tells --deliver-to, once it answers, as the stores would, \
                which try again where they are refused. Serves on until it is ended. Below /device an app's \
                SimulatedPurchases buys. With --json an object a line.
                """,
                HelpText.noLedger,
                examples: "entitle simulate serve --out stores",
                "entitle simulate serve --scenario grace_recovered --deliver-to http://127.0.0.1:8080",
                "entitle simulate serve --rate 8640x --lose 10 --deliver-to http://127.0.0.1:8080"
            )
        )

        @OptionGroup var options: ScenarioOptions
        @OptionGroup var feed: FeedOptions
        @Option(help: "A scenario's id; may be repeated (default: all).")
        var scenario: [String] = []

        func run() async throws {
            let scenarios = try options.numbered(scenario)
            Interrupt.catchSignals()
            _ = try await SimulatedFeed(feed, scenarios).run(isServing: true)
        }
    }
}

/// Simulated stores that are served while they tell a backend of scenarios.
struct SimulatedFeed {
    private let options: FeedOptions
    private let folder: SimulatedStoresFolder
    private let keys: SimulatedKeys
    private let stores: SimulatedStores
    private let scenarios: [Scenario]
    private let clock: ScenarioClock
    private let feed: ScenarioFeed
    private let targets: [ScenarioStore: String]
    /// How often faster than the time they tell; nil: at once.
    private let speed: Double?

    /// Scenarios with their numbers: they are moved to the past, and apart from one another.
    init(_ options: FeedOptions, _ scenarios: [(number: Int, scenario: Scenario)]) throws {
        try PortArgument.require(options.port)
        let delivery = try options.delivery()
        (targets, speed) = (try options.targets(), try options.speed())
        let now = SystemClock.now()
        let start = Scenario.start(of: scenarios.map(\.scenario), endingBy: now)
        let clock = ScenarioClock(start)
        self.options = options
        self.clock = clock
        self.scenarios = scenarios.map { $0.scenario.placed($0.number, from: start) }
        folder = SimulatedStoresFolder(path: options.out)
        keys = try folder.keys(at: now)
        stores = try SimulatedStores(
            keys,
            products: ScenarioProducts.sold,
            clock: SystemClock.now,
            signedAt: { clock.now }
        )
        feed = try ScenarioFeed(self.scenarios, stores, delivery, clock: clock)
    }

    /// `isServing`: until it is ended; false: until all is told, and `stores.json` then says what it said
    /// before.
    ///
    /// - Returns: whether every message was taken in the end.
    func run(isServing: Bool) async throws -> Bool {
        do {
            return try await StoreStandIn.serve(port: options.port, stores.transport) { port in
                let url = "http://\(StoreStandIn.host):\(port)"
                let before = isServing ? nil : try folder.stores()
                try folder.write(keys, at: url, scenarios)
                // Another `simulate serve` may go on: who trusts it asks it again. What cannot be written
                // takes nothing from what was told, and whoever serves next writes it anew.
                defer { if let before { try? folder.write(stores: before) } }
                tell(url)
                if targets.isEmpty { feed.finish() }
                if isServing { try await waitForTargets() }
                let untaken = targets.isEmpty ? 0 : try await tellAll()
                while isServing, !Interrupt.isRaised {
                    try await Task.sleep(for: .milliseconds(100))
                }
                return untaken == 0
            }
        } catch let error where LedgerServer.isAddressFault(error) {
            throw OperationFault(
                .cannotListen,
                "the address cannot be listened on",
                place: "\(StoreStandIn.host):\(options.port)",
                hint: "end what listens there, `simulate serve` perhaps, or choose another --port"
            )
        }
    }

    private func tell(_ url: String) {
        let counts = feed.counts
        if options.common.json {
            Terminal.line(
                .members([
                    "event": "listening", "url": .string(url),
                    "messages": .integer(Int64(counts.sent)),
                ])
            )
        } else {
            Terminal.line("listening on \(url), trusted by \(options.out)/stores.json")
        }
        if counts.asked > 0 {
            Terminal.note("not sent, since customers' apps ask it: \(counts.asked)")
        }
    }

    /// Waits until each backend answers something: it is started when stores.json is there.
    private func waitForTargets() async throws {
        for url in Set(targets.values.map { Name($0) }) {
            while !Interrupt.isRaised,
                await HTTPStoreTransport.send(StoreRequest(.get, url.description)) == nil
            {
                try await Task.sleep(for: .milliseconds(250))
            }
        }
    }

    private func tellAll() async throws -> Int {
        let (begun, start) = (ContinuousClock.now, clock.now)
        return try await feed.run(
            to: { targets[$0] },
            now: SystemClock.now,
            reach: { time in
                if Interrupt.isRaised { throw ExitCode(130) }
                guard let speed else { return }
                // Fits: fractions are not trapped, and both are instants.
                let milliseconds = Double(time.milliseconds - start.milliseconds) / speed
                try await Task.sleep(
                    until: begun.advanced(by: .milliseconds(milliseconds)),
                    clock: .continuous
                )
            },
            send: HTTPStoreTransport.send,
            tell: { tell($0) }
        )
    }

    private func tell(_ attempt: ScenarioFeed.Attempt) {
        // What is no JSON has no outcome.
        let answer = attempt.response.flatMap { try? JSONValue(parsing: $0.body) }
        let outcome = answer?["outcome"]?.string ?? answer?["code"]?.string
        let status = attempt.response?.status
        if options.common.json {
            Terminal.line(
                .members([
                    "at": .string(attempt.at.description), "scenario": .string(attempt.scenario),
                    "store": .string(attempt.store.rawValue),
                    "attempt": .integer(Int64(attempt.number)),
                    "status": status.map { .integer(Int64($0)) } ?? .null,
                    "outcome": .optional(outcome),
                ])
            )
        } else {
            let words = [
                attempt.at.description, attempt.scenario, attempt.store.rawValue,
                status.map(String.init) ?? "no answer", outcome ?? "",
                attempt.number > 1 ? "(attempt \(attempt.number))" : "",
            ]
            Terminal.line(words.filter { !$0.isEmpty }.joined(separator: "  "))
        }
    }
}
