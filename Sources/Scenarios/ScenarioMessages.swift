import Encodings
import Entitlements
import StoreSimulator

/// What reaches a ledger.
struct ScenarioMessage: Sendable {
    /// When it was sent, or asked.
    var at: Instant
    var content: Content

    enum Content: Sendable {
        /// The body of a notification of the App Store.
        case notification([UInt8])
        /// A signed transaction that a customer hands in.
        case transaction([UInt8], customer: CustomerID)
        /// A customer's claim to a purchase, by its original id.
        case claim(originalID: String, customer: CustomerID)
    }

    /// Whether a store sends it: such messages may come late, twice, or never.
    var isSent: Bool { if case .notification = content { true } else { false } }
}

/// Plays a scenario's steps: what is sent, and what the accounts have bought in the end.
struct ScenarioMessages {
    private let store: SimulatedAppStore
    private let sandbox: SimulatedAppStore
    private(set) var accounts: [Int: SimulatedAppleAccount] = [:]
    private(set) var messages: [ScenarioMessage] = []
    /// Accounts that buy in the sandbox.
    private var testers: Set<Int> = []

    /// Plays it all.
    ///
    /// - Throws: what signing throws, `InputFault` for a step about what is not there.
    init(_ scenario: Scenario, authority: SigningAuthority) throws {
        store = SimulatedAppStore(authority: authority)
        sandbox = SimulatedAppStore(authority: authority, environment: "Sandbox")
        for (index, step) in scenario.steps.enumerated() {
            do {
                try play(step)
            } catch let fault as MissingPurchase {
                throw InputFault(.invalidValue, "steps[\(index)].\(fault.member)", "not bought yet")
            }
        }
    }

    private struct MissingPurchase: Error {
        var member: String
    }

    private mutating func play(_ step: ScenarioStep) throws {
        if step.action == .sandbox { testers.insert(step.account) }
        let store = testers.contains(step.account) ? sandbox : self.store
        var account =
            accounts[step.account]
            ?? SimulatedAppleAccount(
                step.account,
                token: step.customer?.text,
                of: store
            )
        let sent = account.notifications.count
        try play(step, on: &account)
        for notification in account.notifications[sent...] {
            let signed = String(decoding: try store.signed(notification), as: UTF8.self)
            let body = JSONValue.members(["signedPayload": .string(signed)])
            messages.append(
                ScenarioMessage(
                    at: step.at,
                    content: .notification(Array(body.description.utf8))
                )
            )
        }
        accounts[step.account] = account
        try ask(step, account)
    }

    private func play(_ step: ScenarioStep, on account: inout SimulatedAppleAccount) throws {
        let (place, time) = (step.purchase, step.at)
        func product() throws -> SimulatedAppleAccount.Product {
            guard let found = step.product.flatMap({ ScenarioProducts.product($0) }) else {
                throw MissingPurchase(member: "product")
            }
            return found
        }
        if Self.ofSubscriptions.contains(step.action), !account.hasSubscription(place) {
            throw MissingPurchase(member: "purchase")
        }
        if Self.ofTransactions.contains(step.action),
            step.transaction >= account.originals.count
        {
            throw MissingPurchase(member: "transaction")
        }
        switch step.action {
        case .buy where step.product == ScenarioProducts.trial:
            account.buy(
                try product(),
                at: time,
                renewingTo: ScenarioProducts.product(ScenarioProducts.month),
                .members(["offerType": .integer(1), "offerDiscountType": "FREE_TRIAL"])
            )
        case .buy: account.buy(try product(), at: time)
        case .resubscribe: account.resubscribe(place, at: time)
        case .renew: account.renew(place, at: time)
        case .fail: account.failRenewal(place, graceUntil: step.until, at: time)
        case .endGrace: account.endGrace(place, at: time)
        case .expire: account.expire(place, at: time)
        case .cancel: account.setRenewal(place, false, at: time)
        case .uncancel: account.setRenewal(place, true, at: time)
        case .upgrade: account.upgrade(place, to: try product(), at: time)
        case .downgrade: account.downgrade(place, to: try product(), at: time)
        case .extend: if let until = step.until { account.extend(place, to: until, at: time) }
        case .refund: account.refund(step.transaction, at: time)
        case .reverseRefund: account.reverseRefund(step.transaction, at: time)
        case .leaveFamily: account.leaveFamily(step.transaction, at: time)
        case .note: account.note(step.type ?? "", nil, place, at: time)
        case .claim, .handIn, .sandbox: break
        }
    }

    private static let ofSubscriptions: Set<ScenarioStep.Action> = [
        .resubscribe, .renew, .fail, .endGrace, .expire, .cancel, .uncancel, .upgrade, .downgrade,
        .extend, .note,
    ]
    private static let ofTransactions: Set<ScenarioStep.Action> = [
        .refund, .reverseRefund, .leaveFamily, .claim, .handIn,
    ]

    /// What a customer asks of the ledger.
    private mutating func ask(_ step: ScenarioStep, _ account: SimulatedAppleAccount) throws {
        guard let customer = step.customer, [.claim, .handIn].contains(step.action) else { return }
        let transaction = account.originals[step.transaction]
        switch step.action {
        case .claim:
            let originalID = transaction["originalTransactionId"]?.string ?? ""
            messages.append(
                ScenarioMessage(
                    at: step.at,
                    content: .claim(originalID: originalID, customer: customer)
                )
            )
        default:
            // Signed when it was made: what an app kept tells nothing of a refund since.
            let jws = try store.authority.sign(transaction)
            messages.append(
                ScenarioMessage(at: step.at, content: .transaction(jws, customer: customer))
            )
        }
    }
}
