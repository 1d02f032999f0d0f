import ArgumentParser
import EntitlementLedger
import Entitlements
import LedgerOperations
import LedgerServer
import Scenarios

/// The command `entitle demo`.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "A year of made-up customers, served: one command to see everything.",
        discussion: HelpText.discussion(
            """
            Makes a ledger in a temporary directory with what the simulated App Store sent in the last \
            year, verified, each message recorded when it was sent, and serves it until it is ended. The \
            ledger is gone then.
            """,
            examples: "entitle demo"
        )
    )

    @Option(help: "The port; 0 picks one.") var port = 0
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
        let place = try TemporaryLedger()
        defer { place.remove() }
        let open = try place.open(catalog: nil)
        do {
            let now = SystemClock.now()
            let year = SimulatedYear(
                customers: customers,
                until: now,
                seed: seed,
                authority: try ScenarioRun.authority(around: now)
            )
            let count = try await year.record(in: open.ledger)
            Terminal.note("\(count) messages of the App Store, \(customers) customers")
            let server = try Serve.parse(["--port", String(port)])
            try await server.serve(
                open,
                at: place.path,
                key: place.key,
                masterKey: { place.masterKey },
                isListening: { Self.invite($0, key: place.key, at: now) }
            )
        } catch {
            open.close(after: error)
            throw error
        }
        open.end(warn: Terminal.warn)
    }

    /// Five questions to begin with.
    private static func invite(
        _ server: LedgerServer.Listening,
        key: String,
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
            "  \(ask)/v1/reports/customers'", "",
            "In a browser (the link lets in once):", "  \(server.makeConsoleLink())", "",
        ])
    }
}
