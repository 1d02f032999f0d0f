import ArgumentParser
import Encodings
import Entitlements
import Foundation
import LedgerOperations
import StoreSimulator

/// The command `entitle simulate`.
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Plays the stores, for development: signs what they would sign.",
        discussion: """
            No ledger trusts what is signed here unless stores.json names the authority's root.
            """,
        subcommands: [Authority.self, Trigger.self, List.self, Run.self, Serve.self]
    )

    /// The command `entitle simulate authority`.
    struct Authority: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "authority",
            abstract: "Makes a signing authority with the App Store's marks.",
            discussion: HelpText.discussion(
                "With --json it names the files that it made: authority, and root or null.",
                HelpText.noLedger,
                examples: "entitle simulate authority authority.pem --root root.cer"
            )
        )

        @OptionGroup var common: CommonOptions
        @Argument(help: "A file for its keys and certificates; it must not be there yet.")
        var file: String
        @Option(help: "A file for its root alone, to be named in stores.json.")
        var root: String?

        /// Days for which its certificates are good, before and after now.
        private static let dayCount: Int64 = 3650

        func run() throws {
            let now = SystemClock.now()
            let span = Self.dayCount * Instant.millisecondsPerDay
            let authority = try SigningAuthority(
                validity: now.advanced(byMilliseconds: -span)..<now.advanced(byMilliseconds: span)
            )
            try OutputFile.create(authority.pem, at: file)
            if let root {
                try OutputFile.create(authority.rootPEM, at: root, mode: OutputFile.forOthers)
            }
            guard common.json else { return }
            Terminal.line(.members(["authority": .string(file), "root": .optional(root)]))
        }
    }

    /// The command `entitle simulate trigger`.
    struct Trigger: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trigger",
            abstract: "Prints a signal as the App Store would send it, or sends a scenario's.",
            discussion: HelpText.discussion(
                """
                KIND is TRANSACTION (a signed transaction by itself), or a notification's type, \
                with its subtype after a slash: SUBSCRIBED/INITIAL_BUY, DID_RENEW, REFUND, … With \
                --deliver-to it is a scenario, whose messages are sent at once, while the stores with the \
                keys in --out answer, and stores.json then names again what it named; exit 1 where one \
                is not taken. With --json an object a line: a transaction's member is \
                signedTransaction, a notification is one by itself.
                """,
                HelpText.noLedger,
                examples:
                    "entitle simulate trigger SUBSCRIBED/INITIAL_BUY --authority authority.pem",
                "entitle simulate trigger grace_recovered --deliver-to http://127.0.0.1:8080"
            )
        )

        @Argument(
            help: "TRANSACTION, TYPE or TYPE/SUBTYPE of a notification; or a scenario's id."
        )
        var kind: String
        @Option(help: "The authority's file.") var authority: String?
        @Option(help: "The app's bundle id.") var bundle = "com.example.app"
        @Option(help: "The app's id in the App Store.") var appAppleId: Int64 = 1_234_567_890
        @Flag(help: "Signs for the sandbox.") var sandbox = false
        @Option(
            parsing: .unconditional,
            help: "When the period starts and all is signed (default: now)."
        )
        var time: String?
        @Option(help: "The notification's id (default: a new one).") var id: String?
        @Option(help: "How many to print, a line each, of a purchase and with an id each.")
        var count = 1
        @Option(help: "Members of the transaction to replace, add or (null) leave out, as JSON.")
        var transaction = "{}"
        @Option(help: "Members of the renewal info likewise.") var renewalInfo = "{}"
        @OptionGroup var options: ScenarioOptions
        @OptionGroup var feed: FeedOptions

        private static let countLimit = 1_000_000
        /// The first purchase's id where there are many.
        private static let firstPurchase = 2_000_000_200_000_000

        func run() async throws {
            guard feed.deliverTo.isEmpty else {
                Interrupt.catchSignals()
                let isTaken = try await SimulatedFeed(feed, options.numbered([kind]))
                    .run(isServing: false)
                if !isTaken { throw ExitCode(.no) }
                return
            }
            guard (1...Self.countLimit).contains(count) else {
                throw OperationFault(.usage, "expected 1 to \(Self.countLimit)", place: "--count")
            }
            guard count == 1 || id == nil else {
                throw OperationFault(.usage, "--id names one; --count makes many")
            }
            let store = SimulatedAppStore(
                authority: try readAuthority(),
                bundleID: bundle,
                appAppleID: appAppleId,
                environment: sandbox ? "Sandbox" : "Production"
            )
            let start =
                try time.map { try InstantArgument.parse($0, place: "--time") }
                ?? SystemClock.now()
            let changes = try object(transaction, "--transaction")
            let renewalChanges = try object(renewalInfo, "--renewal-info")
            guard count > 1 else {
                return try printSignal(store, start, changes, renewalChanges)
            }
            for number in 0..<count {
                let purchase = JSONValue.string(String(Self.firstPurchase + number))
                try printSignal(
                    store,
                    start,
                    .members(["transactionId": purchase, "originalTransactionId": purchase])
                        .joined(with: changes),
                    .members(["originalTransactionId": purchase]).joined(with: renewalChanges)
                )
            }
        }

        private func printSignal(
            _ store: SimulatedAppStore,
            _ start: Instant,
            _ transaction: JSONValue,
            _ renewalInfo: JSONValue
        ) throws {
            if kind == "TRANSACTION" {
                let jws = try store.transaction(start: start, transaction)
                let text = String(decoding: jws, as: UTF8.self)
                return feed.common.json
                    ? Terminal.line(.members(["signedTransaction": .string(text)]))
                    : Terminal.line(text)
            }
            let parts = kind.split(separator: "/", maxSplits: 1).map(String.init)
            guard let type = parts.first else {
                throw OperationFault(.usage, "KIND is missing")
            }
            let jws = try store.notification(
                type,
                parts.count > 1 ? parts[1] : nil,
                id: id ?? UUID().uuidString.lowercased(),
                start: start,
                transaction: transaction,
                renewalInfo: renewalInfo
            )
            Terminal.line(
                .members(["signedPayload": .string(String(decoding: jws, as: UTF8.self))])
            )
        }

        private func readAuthority() throws -> SigningAuthority {
            guard let authority else {
                throw OperationFault(
                    .usage,
                    "--authority is missing",
                    hint: "or give --deliver-to, to send a scenario's messages"
                )
            }
            let text: String
            do {
                text = try ProofFile.text(authority)
            } catch var fault as OperationFault where fault.code == .noFile {
                fault.hint = "make one with `entitle simulate authority FILE`"
                throw fault
            }
            do {
                return try SigningAuthority(pem: text)
            } catch {
                throw OperationFault(
                    .malformed,
                    "not the keys and certificates of an authority",
                    place: authority
                )
            }
        }

        private func object(_ text: String, _ place: String) throws -> JSONValue {
            guard let json = try? JSONValue(parsing: Array(text.utf8)), json.members != nil else {
                throw OperationFault(.usage, "expected a JSON object", place: place)
            }
            return json
        }
    }
}

extension JSONValue {
    /// The members of both objects; those of the other take the place of these.
    fileprivate func joined(with other: JSONValue) -> JSONValue {
        let others = other.members ?? []
        let kept = (members ?? []).filter { member in
            !others.contains { $0.name == member.name }
        }
        return .object(kept + others)
    }
}
