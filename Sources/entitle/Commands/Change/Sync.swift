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

/// The command `entitle sync`.
struct Sync: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Asks the stores what they know, and appends what is missing.",
        discussion: HelpText.discussion(
            """
            Of CUSTOMER: what they own, and what else their accounts bought. Without one, or with \
            --backfill, of everybody: what the stores sent and may not have come, then each purchase; one \
            that was ended goes on where it came to, for a day. With --from of a list: a purchase a line, by \
            STORE/ORIGINAL_ID, a transaction id of the App Store, a purchase token or an order of Google \
            Play; in CSV, the first cell that is one. Exit 75 where a store did not tell all that it knows; \
            what it told is recorded.
            """,
            examples: "entitle sync alice",
            "entitle sync --backfill --since -30d",
            "entitle sync --from orders.csv"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var stores: StoresOptions
    @Argument(help: "A customer id.") var customer: String?
    @Flag(help: "Asks about everybody (default without CUSTOMER and --from).") var backfill = false
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            With --backfill: from then on (default: from where the log is known to be complete, else as \
            far back as the stores tell).
            """,
            valueName: "instant"
        )
    )
    var since: String?
    @Flag(help: "With --backfill: from the beginning, wherever another one was ended.")
    var again = false
    @Option(help: ArgumentHelp("A list of purchases, or - for standard input.", valueName: "file"))
    var from: String?

    func run() throws {
        guard [customer != nil, backfill, from != nil].count(where: \.self) <= 1 else {
            throw OperationFault(
                .usage,
                "give one of CUSTOMER, --backfill and --from",
                hint: "entitle sync CUSTOMER, or entitle sync --backfill"
            )
        }
        guard backfill || since == nil && !again else {
            throw OperationFault(.usage, "--since and --again go with --backfill")
        }
        let environment = try options.environment()
        if let customer, let client = try server.writing(options) {
            let call = ServerCall.change(
                .post,
                ["v1", "customers", try CustomerArgument.checked(customer).text, "sync"],
                [("environment", environment.name)]
            )
            return try tell(try client.answer(call, as: SyncAnswer.self))
        }
        if let client = try server.writing(options) {
            let call = ServerCall.change(
                .post,
                ["v1", "sync"],
                [("environment", environment.name)],
                .object(try asked())
            )
            return try tell(client.answer(call.untilDone, as: BackfillAnswer.self))
        }
        let clients = try stores.clients(options)
        Interrupt.catchSignals(says: true)
        try options.withLedger(writing: true) { ledger in
            let sync = StoreSync(
                ledger,
                clients,
                pool: DispatchPool(),
                clock: SystemClock.now,
                makeID: { UUID().uuidString.lowercased() }
            )
            if let customer {
                return try self.sync(CustomerArgument.checked(customer), sync, environment)
            }
            let answer = try ask(StoreBackfill(sync, in: environment), environment)
            try Signing.signIfAllowed(ledger, warn: Terminal.warn)
            try tell(answer)
        }
    }

    private func sync(
        _ customer: CustomerID,
        _ sync: StoreSync,
        _ environment: StoreEnvironment
    ) throws {
        try tell(try Blocking.value { try await sync.sync(customer, in: environment) })
    }

    private func tell(_ answer: SyncAnswer) throws {
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        if answer.isToAskAgain { throw ExitCode(.tryAgain) }
    }

    /// What of everybody a server is asked for; one that was begun goes on, whatever becomes of the command.
    private func asked() throws -> [JSONMember] {
        if let from {
            let purchases = try Self.purchases(listedIn: from)
            return [JSONMember("purchases", .array(purchases.map { .string($0.description) }))]
        }
        let since = try since.map {
            try InstantArgument.parse($0, place: "--since", now: SystemClock.now())
        }
        return [
            since.map { JSONMember("since", .string($0.description)) },
            again ? JSONMember("again", .bool(true)) : nil,
        ].compactMap(\.self)
    }

    private func ask(
        _ backfill: StoreBackfill,
        _ environment: StoreEnvironment
    ) throws -> BackfillAnswer {
        let progress = SharedProgress("asked about")
        defer { progress.finish() }
        if let from {
            let purchases = try Self.purchases(listedIn: from)
            return try Blocking.value {
                try await backfill.run(about: purchases, isInterrupted: { Interrupt.isRaised }) {
                    progress.show(UInt64($0), of: UInt64($1))
                }
            }
        }
        let now = SystemClock.now()
        let since = try since.map { try InstantArgument.parse($0, place: "--since", now: now) }
        let reached =
            BackfillProgress(ofLedgerAt: options.path, environment, clock: SystemClock.now)
        let first = again ? 0 : try reached.next()
        return try Blocking.value {
            try await backfill.run(
                since: since,
                from: first,
                isInterrupted: { Interrupt.isRaised }
            ) { done, total, next in
                progress.show(UInt64(done), of: UInt64(total))
                try reached.reach(next)
            }
        }
    }

    private func tell(_ answer: BackfillAnswer) throws {
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        if Interrupt.isRaised { throw ExitCode(.interrupted) }
        if answer.isToAskAgain { throw ExitCode(.tryAgain) }
    }

    private static func purchases(listedIn file: String) throws -> [PurchaseName] {
        let reader = try LineReader(file, isInterrupted: { Interrupt.isRaised })
        var purchases: [PurchaseName] = []
        var met: Set<PurchaseName> = []
        while let line = try reader.next() {
            if line.isBlank { continue }
            // Other cells of a row may be of any encoding.
            let text = line.bytes.map { String(decoding: $0, as: UTF8.self) }
            if let purchase = text.flatMap({ SyncList.purchase(inLine: $0) }) {
                if met.insert(purchase).inserted { purchases.append(purchase) }
            } else if text == nil || line.number > 1 {
                // The first line may be a heading; one that is too long to be read is none.
                throw OperationFault(
                    .malformed,
                    "no purchase, transaction, token or order stands there",
                    place: "\(file), line \(line.number)"
                )
            }
        }
        return purchases
    }
}
