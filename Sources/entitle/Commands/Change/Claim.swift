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

/// The command `entitle claim`.
struct Claim: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claim",
        abstract: "Makes purchases a customer's, by the catalog's policy.",
        discussion: HelpText.discussion(
            """
            With a purchase's name it is claimed as it stands. With signed transactions, as an app \
            gets them from the App Store, or purchase data, as Google Play signs it, each is \
            verified and recorded with its claim; repeating it changes nothing.
            """,
            examples: "entitle claim alice app_store/2000000123456789",
            "entitle claim alice --signed-transaction transaction.jws",
            "entitle claim alice --purchase-data purchase.json"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var requested: RequestOptions
    @OptionGroup var stores: StoresOptions
    @Option(
        name: .customLong("signed-transaction"),
        parsing: .upToNextOption,
        help: ArgumentHelp("Files with one signed transaction each, or -.", valueName: "file")
    )
    var signedTransactions: [String] = []
    @Option(
        name: .customLong("purchase-data"),
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Files with {\"purchaseData\":\"…\",\"signature\":\"…\"} each, or -.",
            valueName: "file"
        )
    )
    var purchaseData: [String] = []
    @Argument(help: "A customer id.") var customer: String
    @Argument(help: "STORE/ORIGINAL_ID.") var purchase: String?

    func run() throws {
        let customer = try CustomerArgument.checked(customer)
        switch (purchase, signedTransactions.isEmpty && purchaseData.isEmpty) {
        case (let purchase?, true): try claim(PurchaseArgument.checked(purchase), customer)
        case (nil, false): try claimSigned(customer)
        default:
            throw OperationFault(
                .usage,
                "give a purchase, or signed transactions",
                hint: "entitle claim CUSTOMER STORE/ORIGINAL_ID, "
                    + "or entitle claim CUSTOMER --signed-transaction FILE…"
            )
        }
    }

    private func claim(_ purchase: PurchaseName, _ customer: CustomerID) throws {
        let request = try requested.request(options)
        var isKnown = true
        let asked = AskedRequest(
            .post,
            ["purchases", purchase.description, "claim"],
            [JSONMember("customer", .string(customer.text))],
            request
        ) { answer in
            isKnown = answer.isPurchaseKnown ?? true
            return "claimed"
        }
        try requested.record(request, about: customer, options, asking: asked) { ledger in
            isKnown = try ledger.questions.isKnown(purchase, environment: request.environment)
            return Recorded(
                receipt: try ledger.appender.claim(purchase, for: customer, request),
                done: "claimed"
            ) { [isKnown] in $0.isPurchaseKnown = isKnown }
        }
        if !isKnown {
            Terminal.note(
                "warning: no event has named this purchase yet: the claim waits for its first"
            )
        }
    }

    /// Each by itself: what is refused does not hold up the others.
    private func claimSigned(_ customer: CustomerID) throws {
        let request = try requested.request(options, source: Source.app)
        let isDryRun = requested.dryRun
        let server = requested.server
        if let client = try isDryRun ? server.named() : server.writing(options) {
            return try tell(restored(customer, request, client), isDryRun)
        }
        let items = try transactionsOfAppStore() + transactionsOfPlay()
        let handedIn = items.compactMap(\.handedIn)
        // Who runs the command is support: a conflict names its owner (Stores, rule 7).
        let told = try options.withLedger(writing: !isDryRun) { ledger in
            guard isDryRun else { return try made(handedIn, customer, request, ledger) }
            let transactions = handedIn.map(\.transaction)
            let planned = try ledger.plannedRestore(transactions, for: customer, request)
            return zip(planned, transactions).map { ClaimItem($0, of: $1.purchase) }
        }
        try tell(Self.joined(items, told), isDryRun)
    }

    /// Claims them, but for what its store does not know.
    private func made(
        _ items: [HandedIn],
        _ customer: CustomerID,
        _ request: Request,
        _ ledger: Ledger
    ) throws -> [ClaimItem] {
        let confirmed = try confirmed(items, ledger)
        let known = confirmed.compactMap(\.handedIn?.transaction)
        let outcomes = try ledger.appender.restore(known, for: customer, request)
        return Self.joined(confirmed, zip(outcomes, known).map { ClaimItem($0, of: $1.purchase) })
    }

    /// What became of each, with what was refused in its place among the outcomes of the others.
    private static func joined(_ items: [Verified], _ outcomes: [ClaimItem]) -> [ClaimItem] {
        var outcomes = outcomes[...]
        return items.map { item in
            switch item {
            case .failure(let refusal):
                ClaimItem(unverified: refusal.code.rawValue, refusal.detail)
            case .success: outcomes.removeFirst()
            }
        }
    }

    private func tell(_ claimed: [ClaimItem], _ isDryRun: Bool) throws {
        if options.json {
            Terminal.line(AnswerText(ClaimAnswer(items: claimed, isDryRun: isDryRun)))
        } else {
            if isDryRun { Terminal.note("dry run: nothing is recorded") }
            for (file, item) in zip(signedTransactions + purchaseData, claimed) {
                Terminal.line("\(file): \(item.textLine)")
            }
        }
        if claimed.contains(where: { $0.outcome == .refused }) { throw ExitCode(.conflict) }
    }

    /// What a server made of what it was handed.
    private func restored(
        _ customer: CustomerID,
        _ request: Request,
        _ client: ServerClient
    ) throws -> [ClaimItem] {
        let transactions =
            try signedTransactions.map { file in
                JSONValue.members([
                    "store": .string(Source.appStore),
                    "signedTransaction": .string(
                        String(decoding: try Self.signed(file), as: UTF8.self)
                    ),
                ])
            }
            + purchaseData.map { file in
                let (data, signature) = try Self.purchase(file)
                return .members([
                    "store": .string(Source.playStore), "purchaseData": .string(data),
                    "signature": .string(signature),
                ])
            }
        let call = ServerCall.change(
            .post,
            ["v1", "customers", customer.text, "restore"],
            requested.dryRun ? [("dry-run", "true")] : [],
            .members(["transactions": .array(transactions)]),
            as: request.id
        )
        return try client.answer(call, as: RestoreAnswer.self).items.map { item in
            var item = item
            if item.code == ProblemCode.keyReused.rawValue {
                item.code = Refusal.Code.conflict.rawValue
            }
            return item
        }
    }

    private typealias Verified = Result<HandedIn, SignalRefusal>

    /// Asks the stores that may be asked, as long as for a call; Google is told later, by a sync.
    private func confirmed(_ items: [HandedIn], _ ledger: Ledger) throws -> [Verified] {
        let clients = try stores.configuredClients(options)
        guard !clients.isEmpty else { return items.map { .success($0) } }
        let sync = StoreSync(
            ledger,
            clients,
            pool: DispatchPool(),
            clock: SystemClock.now,
            makeID: { UUID().uuidString.lowercased() }
        )
        return try Blocking.value { try await sync.confirm(items) }
    }

    private func transactionsOfAppStore() throws -> [Verified] {
        guard !signedTransactions.isEmpty else { return [] }
        guard let verifier = try stores.appStore(options) else {
            throw notConfigured("the App Store", hint: "name its bundle ids there")
        }
        let now = SystemClock.now()
        return try signedTransactions.map { file in
            let jws = try Self.signed(file)
            return Blocking.wait { await verifier.transaction(jws, now: now) }
                .flatMap { signed in
                    signed.handedIn().map { HandedIn($0, evidence: .appStore(signed)) }
                }
        }
    }

    private func transactionsOfPlay() throws -> [Verified] {
        guard !purchaseData.isEmpty else { return [] }
        guard let configuration = try stores.configuration(at: options.path)?.playStore else {
            throw notConfigured("Google Play", hint: "name its packages and licence keys there")
        }
        let now = SystemClock.now()
        return try purchaseData.map { file in
            let (data, signature) = try Self.purchase(file)
            return UnverifiedPlayPurchase.reading(purchaseData: data, signature: signature)
                .flatMap { $0.verified(by: configuration, receivedAt: now) }
                .map { HandedIn($0.handedIn(), evidence: .playStore($0.purchase)) }
        }
    }

    private static func signed(_ file: String) throws -> [UInt8] {
        try SignedFile.line(file).filter { ![0x20, 0x0D].contains($0) }
    }

    private static func purchase(_ file: String) throws -> (data: String, signature: String) {
        let line = try SignedFile.line(file)
        // Whatever it is that is not JSON, it is not what is expected.
        let json = try? JSONValue(parsing: line)
        guard let data = json?["purchaseData"]?.string, let text = json?["signature"]?.string
        else {
            throw OperationFault(
                .malformed,
                "expected an object with purchaseData and signature in a line",
                place: file
            )
        }
        return (data, text)
    }

    private func notConfigured(_ store: String, hint: String) -> OperationFault {
        OperationFault(
            .notConfigured,
            "\(store) is not configured",
            place: options.path + "/stores.json",
            hint: "\(hint), or give --stores FILE"
        )
    }
}

/// Reads what a store signed, in one line.
private enum SignedFile {
    static func line(_ file: String) throws -> [UInt8] {
        let reader = try LineReader(file, isInterrupted: { Interrupt.isRaised })
        guard let line = try reader.next(), let bytes = line.bytes else {
            throw OperationFault(
                .malformed,
                "expected what a store signed, in one line",
                place: file
            )
        }
        // Else what stands there would be claimed to all appearances, and is not.
        while let next = try reader.next() {
            guard next.isBlank else {
                throw OperationFault(
                    .malformed,
                    "more stands there than what a store signed, in one line",
                    place: "\(file), line \(next.number)",
                    hint: "name a file for each"
                )
            }
        }
        return bytes
    }
}

extension Result where Success == HandedIn, Failure == SignalRefusal {
    /// What was handed in; nil: it was refused.
    fileprivate var handedIn: HandedIn? {
        if case .success(let item) = self { item } else { nil }
    }
}
