import Encodings
import Entitlements
import StoreSimulator

/// What reaches a ledger.
struct ScenarioMessage: Sendable {
    /// The scenario's id.
    var scenario: String
    /// When it was sent, or asked.
    var at: Instant
    var content: Content

    enum Content: Sendable {
        /// The body of a notification of the App Store.
        case notification([UInt8])
        /// A push of Google Play's.
        case push([UInt8])
        /// The body of a webhook of RevenueCat's.
        case webhook([UInt8])
        /// A signed transaction that a customer hands in.
        case transaction([UInt8], customer: CustomerID)
        /// A purchase token that a customer hands in.
        case token(String, customer: CustomerID)
        /// A customer's claim to a purchase, by its original id.
        case claim(originalID: String, customer: CustomerID)
    }

    /// Who sends it: such messages may come late, twice, or never; nil: a customer's app asks.
    var sender: ScenarioStore? {
        switch content {
        case .notification: .appStore
        case .push: .playStore
        case .webhook: .revenueCat
        case .transaction, .token, .claim: nil
        }
    }
}

/// Plays a scenario's steps: what is sent, and what the accounts have bought at each time.
struct ScenarioMessages {
    let appStore: SimulatedAppStore
    let sandbox: SimulatedAppStore
    let playStore: SimulatedPlayStore
    /// Signs what is forged; nil: somebody else each time.
    let forger: SigningAuthority?
    private let scenario: String
    private(set) var messages: [ScenarioMessage] = []
    /// What accounts had bought from an instant on, in the order of time.
    private(set) var states: [(at: Instant, accounts: SimulatedAccounts)] = []
    var accounts = SimulatedAccounts()
    /// Accounts that buy in the sandbox.
    var testers: Set<Int> = []

    /// Plays it all.
    ///
    /// - Throws: what signing throws, `InputFault` for a step about what is not there.
    init(_ scenario: Scenario, _ keys: SimulatedKeys, forger: SigningAuthority? = nil) throws {
        self.forger = forger
        appStore = SimulatedAppStore(authority: keys.authority)
        sandbox = SimulatedAppStore(authority: keys.authority, environment: "Sandbox")
        playStore = keys.playStore
        self.scenario = scenario.id
        for (index, step) in scenario.steps.enumerated() {
            do {
                try play(step)
            } catch let fault as MissingPurchase {
                throw InputFault(.invalidValue, "steps[\(index)].\(fault.member)", "not bought yet")
            }
            states.append((step.at, accounts))
        }
    }

    struct MissingPurchase: Error {
        var member: String
    }

    /// What accounts have bought by an instant.
    func accounts(at time: Instant) -> SimulatedAccounts {
        states.last { $0.at <= time }?.accounts ?? SimulatedAccounts()
    }

    private mutating func play(_ step: ScenarioStep) throws {
        switch step.store {
        case .appStore: try playAppStore(step)
        case .playStore: try playPlayStore(step)
        case .revenueCat: try playRevenueCat(step)
        }
    }

    mutating func add(_ content: ScenarioMessage.Content, at time: Instant) {
        messages.append(ScenarioMessage(scenario: scenario, at: time, content: content))
    }

    /// What a step buys.
    static func product(of step: ScenarioStep) throws -> SimulatedProduct {
        guard let found = step.product.flatMap({ ScenarioProducts.product($0) }) else {
            throw MissingPurchase(member: "product")
        }
        return found
    }

    /// What a step's product renews to, where it is a free trial.
    static func productAfterTrial(of step: ScenarioStep) -> SimulatedProduct? {
        step.product == ScenarioProducts.trial
            ? ScenarioProducts.product(ScenarioProducts.month) : nil
    }

    /// Refuses a step about a purchase, or a transaction, that there is not.
    static func require(
        _ step: ScenarioStep,
        purchases: Int,
        transactions: Int
    ) throws(MissingPurchase) {
        if ofTransactions.contains(step.action) {
            guard step.transaction < transactions else {
                throw MissingPurchase(member: "transaction")
            }
        } else if ofPurchases.contains(step.action), step.purchase >= purchases {
            throw MissingPurchase(member: "purchase")
        }
    }

    private static let ofPurchases: Set<ScenarioStep.Action> = [
        .resubscribe, .renew, .fail, .endGrace, .expire, .cancel, .uncancel, .upgrade, .downgrade,
        .extend, .note, .pay, .abandon, .pause, .revoke,
    ]
    private static let ofTransactions: Set<ScenarioStep.Action> = [
        .refund, .refundPart, .reverseRefund, .leaveFamily, .claim, .handIn,
    ]
}
