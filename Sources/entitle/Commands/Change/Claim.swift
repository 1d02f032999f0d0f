import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import LedgerOperations
import LedgerServer
import Stores

/// The command `entitle claim`.
struct Claim: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes purchases a customer's, by the catalog's policy.",
        discussion: """
            With a purchase's name it is claimed as it stands. With signed transactions, as an app \
            gets them from the App Store, each is verified and recorded with its claim; repeating \
            it changes nothing.
            """
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
    @Argument(help: "A customer id.") var customer: String
    @Argument(help: "STORE/ORIGINAL_ID.") var purchase: String?

    func run() throws {
        let customer = try CustomerArgument.checked(customer)
        switch (purchase, signedTransactions.isEmpty) {
        case (let purchase?, true): try claim(PurchaseArgument.checked(purchase), customer)
        case (nil, false): try claimSigned(customer)
        default:
            throw CommandFailure(
                .usage,
                "usage",
                "give a purchase, or signed transactions",
                hint: "entitle claim CUSTOMER STORE/ORIGINAL_ID, "
                    + "or entitle claim CUSTOMER --signed-transaction FILE…"
            )
        }
    }

    private func claim(_ purchase: PurchaseName, _ customer: String) throws {
        let request = try requested.request(options)
        var isKnown = true
        try requested.record(request, about: customer, options) { ledger in
            isKnown = try ledger.isKnown(purchase, environment: request.environment)
            return Recorded(
                receipt: try ledger.claim(purchase, for: customer, request),
                done: "claimed",
                extra: [JSONMember("purchaseKnown", .bool(isKnown))]
            )
        }
        if !isKnown {
            Terminal.note(
                "warning: no event has named this purchase yet: the claim waits for its first"
            )
        }
    }

    /// Each by itself: what is refused does not hold up the others.
    private func claimSigned(_ customer: String) throws {
        guard !requested.dryRun else {
            throw CommandFailure(
                .usage,
                "usage",
                "signed transactions are not tried",
                place: "--dry-run",
                hint: "`entitle claim CUSTOMER STORE/ORIGINAL_ID --dry-run` tries a claim"
            )
        }
        let now = SystemClock.now()
        guard let verifier = try stores.appStore(options) else {
            throw CommandFailure(
                .misconfigured,
                "not_configured",
                "the App Store is not configured",
                place: options.path + "/stores.json",
                hint: "name its bundle ids there, or give --stores FILE"
            )
        }
        let request = try requested.request(options, source: Source.app)
        let items = try signedTransactions.map { file in
            let jws = try SignedTransactionFile.read(file)
            return Blocking.wait { await verifier.transaction(jws, now: now) }
                .flatMap { $0.handedIn() }
        }
        let handedIn = items.compactMap { try? $0.get() }
        var outcomes = try options.withLedger(writing: true) { ledger in
            Array(try ledger.restore(handedIn, for: customer, request).reversed())
        }
        let claimed = items.map { item in
            switch item {
            case .failure(let refusal):
                ClaimedItem(refused: refusal.code.rawValue, refusal.detail, nil, owner: nil)
            case .success(let transaction):
                ClaimedItem(outcomes.removeLast(), transaction.purchase)
            }
        }
        if options.json {
            Terminal.line(.members(["items": .array(claimed.map { .object($0.members) })]))
        } else {
            for (file, item) in zip(signedTransactions, claimed) {
                Terminal.line("\(file): \(item.text)")
            }
        }
        if claimed.contains(where: \.isRefused) { throw ExitCode.conflict }
    }
}

/// Reads one signed transaction.
private enum SignedTransactionFile {
    static func read(_ file: String) throws -> [UInt8] {
        let reader = try LineReader(file, isInterrupted: { Interrupt.isRaised })
        guard let line = try reader.next(), let bytes = line.bytes else {
            throw CommandFailure(
                .badInput,
                "malformed",
                "expected one signed transaction in a line",
                place: file
            )
        }
        return bytes.filter { ![0x20, 0x0D].contains($0) }
    }
}

/// What became of one signed transaction.
private struct ClaimedItem {
    var members: [JSONMember]
    var text: String
    var isRefused = false

    /// Who runs the command is support: the conflict is named (Stores, rule 7).
    init(refused code: String, _ detail: String, _ purchase: PurchaseName?, owner: String?) {
        members = [
            JSONMember("outcome", "refused"),
            JSONMember("purchase", .optional(purchase?.description)),
            JSONMember("sequence", .null), JSONMember("code", .string(code)),
            JSONMember("detail", .string(detail)),
        ]
        if let owner { members.append(JSONMember("owner", .string(owner))) }
        text = "refused: \(detail) [\(code)]" + (owner.map { "; it is \($0)'s" } ?? "")
        isRefused = true
    }

    private init(_ word: String, _ sequence: UInt64?, _ purchase: PurchaseName) {
        members = [
            JSONMember("outcome", .string(word)),
            JSONMember("purchase", .string(purchase.description)),
            JSONMember("sequence", sequence.map { .integer($0) } ?? .null),
        ]
        text = "\(word): \(purchase)" + (sequence.map { " (event \($0))" } ?? "")
    }

    init(_ outcome: ClaimOutcome, _ purchase: PurchaseName) {
        switch outcome {
        case .recorded(let sequence): self.init("recorded", sequence, purchase)
        case .known(let sequence): self.init("known", sequence, purchase)
        case .refused(let refusal, let owner):
            self.init(refused: refusal.code.rawValue, refusal.detail, purchase, owner: owner)
        }
    }
}
