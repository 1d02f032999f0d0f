import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation
import Stores

/// The command `entitle products`.
struct Products: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "products",
        abstract: "Shows what stores say of what they sell, and loads it.",
        discussion: HelpText.discussion(
            """
            Names, prices, periods and offers as they were loaded last, with their age, and what the \
            catalog in force opens by each; nobody is asked but with --load. A load that fails leaves what \
            was there, and exits 75; products are never replaced by none. Where a \
            server holds the ledger, it loads them, from its own stores.
            """,
            examples: "entitle products --from Products.storekit",
            "entitle products --load",
            "entitle products --locale ja --storefront JP"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var stores: StoresOptions
    @Flag(help: "Asks the stores that stores.json names.")
    var load = false
    @Option(
        help: ArgumentHelp(
            "Takes the App Store's products out of a StoreKit configuration of Xcode.",
            valueName: "file"
        )
    )
    var from: String?
    @Option(help: "Only \(ProductSource.allCases.map(\.rawValue).joined(separator: ", ")).")
    var store: String?
    @Option(help: "The language of names and prices (default: en).") var locale: String?
    @Option(help: "The country of prices: US or USA (default: where there is one price).")
    var storefront: String?

    func run() throws {
        let source = try source()
        let view = try view()
        guard !(load && from != nil) else {
            throw OperationFault(.usage, "--load and --from exclude one another")
        }
        if let client = try load ? server.writing(options) : server.named() {
            return try ask(client, source)
        }
        let outcomes = try outcomes(source)
        let answer = try options.withLedger(writing: false) { ledger in
            try KeptProducts(ofLedgerAt: options.path)
                .listing(Self.catalog(of: ledger, at: view.now), only: source, view)
        }
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        try tell(outcomes)
    }

    private func ask(_ client: ServerClient, _ source: ProductSource?) throws {
        guard from == nil else {
            throw OperationFault(
                .usage,
                "a StoreKit configuration is taken in the ledger's own directory",
                place: "--from",
                hint: "leave --server away, on the machine of the ledger"
            )
        }
        var query: [(name: String, value: String)] = []
        if let source { query.append(("store", source.rawValue)) }
        if let locale { query.append(("locale", locale)) }
        if let storefront { query.append(("storefront", storefront)) }
        let call =
            load
            ? ServerCall.post(["v1", "products", "load"], query).untilDone
            : .get(["v1", "products"], query)
        let answer = try client.answer(call, as: ProductsAnswer.self)
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        if load, answer.sources.contains(where: { $0.fault != nil }) { throw ExitCode(.tryAgain) }
    }

    // MARK: Loads

    private func outcomes(_ source: ProductSource?) throws -> [ProductLoad.Outcome] {
        guard load || from != nil else { return [] }
        let loader = ProductLoad(
            ProductFiles(ofLedgerAt: options.path),
            clock: SystemClock.now
        )
        // Nothing is kept where there is no ledger.
        try options.withLedger(writing: false) { _ in }
        if let from {
            guard source ?? .appStore == .appStore else {
                throw OperationFault(.usage, "a StoreKit configuration is of app_store")
            }
            let bytes = try ProofFile.bytes(from, upTo: StoreKitFile.byteLimit)
            return [try loader.load(storeKitFile: bytes)]
        }
        let clients = try stores.productClients(options)
        let outcomes = try Blocking.value {
            try await loader.load(clients, only: source, pool: DispatchPool())
        }
        if outcomes.isEmpty {
            throw StoresOptions.notConfigured(options, keys: "appStore.connectKeyFile")
        }
        return outcomes
    }

    /// Records what failed, and ends so.
    private func tell(_ outcomes: [ProductLoad.Outcome]) throws {
        let failed = outcomes.filter { $0.fault != nil }
        guard let fault = failed.first?.fault else { return }
        do {
            try options.withLedger(writing: true) { ledger in
                let id = UUID().uuidString.lowercased()
                try ProductLoad.record(failed, id: id, in: ledger)
            }
        } catch {
            // It stands beside what is kept, all the same; mostly another process writes to the log.
            let fault = OperationFault(telling: error, ofLedgerAt: options.path)
            Terminal.warn("the failure is not recorded in the log: \(fault.message)")
        }
        guard from == nil else {
            throw OperationFault(
                .malformed,
                "nothing was loaded: \(fault.detail)",
                place: from,
                hint: "what was kept before is kept"
            )
        }
        throw ExitCode(.tryAgain)
    }

    // MARK: What is asked

    private func source() throws -> ProductSource? {
        guard let store else { return nil }
        guard let source = ProductSource(rawValue: store) else {
            throw OperationFault(
                .usage,
                "no such source of products",
                place: "--store",
                hint: ProductSource.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        return source
    }

    private func view() throws -> KeptProducts.View {
        let tag = locale.flatMap { LanguageTag($0) }
        guard locale == nil || tag != nil else {
            throw OperationFault(.usage, "expected a language tag", place: "--locale")
        }
        let country = storefront.flatMap { Storefront($0) }
        guard storefront == nil || country != nil else {
            throw OperationFault(
                .usage,
                "expected a country, such as US or USA",
                place: "--storefront"
            )
        }
        return KeptProducts.View(locale: tag, storefront: country, now: SystemClock.now())
    }

    private static func catalog(of ledger: Ledger, at now: Instant) throws -> Catalog? {
        try ledger.questions.catalogHistory(size: ledger.questions.size()).catalog(at: now)
    }
}
