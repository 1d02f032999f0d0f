import Encodings
import Entitlements
import StoreSimulator

/// Steps at the App Store.
extension ScenarioMessages {
    mutating func playAppStore(_ step: ScenarioStep) throws {
        if step.action == .sandbox { testers.insert(step.account) }
        let store = testers.contains(step.account) ? sandbox : appStore
        var account =
            accounts.appStore[step.account]
            ?? SimulatedAppleAccount(
                step.account,
                token: step.customer?.text,
                of: store
            )
        // An app names its customer when something is bought, and may name one for what renews.
        if let customer = step.customer, Self.beginnings.contains(step.action) {
            account.accountToken = customer.text
        }
        let sent = account.notifications.count
        try Self.play(step, on: &account)
        for notification in account.notifications[sent...] {
            let signed = String(decoding: try store.signed(notification), as: UTF8.self)
            let body = JSONValue.members(["signedPayload": .string(signed)])
            add(.notification(Array(body.description.utf8)), at: step.at)
        }
        accounts.appStore[step.account] = account
        try ask(step, account, store)
    }

    /// Steps that make a transaction, in which the App Store says whom the app names.
    private static let beginnings: Set<ScenarioStep.Action> = [
        .buy, .resubscribe, .renew, .upgrade,
    ]

    private static func play(
        _ step: ScenarioStep,
        on account: inout SimulatedAppleAccount
    ) throws {
        let (place, time) = (step.purchase, step.at)
        try require(
            step,
            purchases: account.subscriptionCount,
            transactions: account.originals.count
        )
        switch step.action {
        case .buy:
            let next = productAfterTrial(of: step)
            account.buy(
                try product(of: step),
                at: time,
                renewingTo: next,
                next == nil
                    ? .object([])
                    : .members(["offerType": .integer(1), "offerDiscountType": "FREE_TRIAL"])
            )
        case .resubscribe: account.resubscribe(place, at: time)
        case .renew: account.renew(place, at: time)
        case .fail: account.failRenewal(place, graceUntil: step.until, at: time)
        case .endGrace: account.endGrace(place, at: time)
        case .expire: account.expire(place, at: time)
        case .cancel: account.setRenewal(place, false, at: time)
        case .uncancel: account.setRenewal(place, true, at: time)
        case .upgrade: account.upgrade(place, to: try product(of: step), at: time)
        case .downgrade: account.downgrade(place, to: try product(of: step), at: time)
        case .extend: if let until = step.until { account.extend(place, to: until, at: time) }
        case .refund: account.refund(step.transaction, at: time)
        case .reverseRefund: account.reverseRefund(step.transaction, at: time)
        case .leaveFamily: account.leaveFamily(step.transaction, at: time)
        case .note: account.note(step.type ?? "", nil, place, at: time)
        // The others are no steps of this store.
        default: break
        }
    }

    /// What a customer asks of the ledger.
    private mutating func ask(
        _ step: ScenarioStep,
        _ account: SimulatedAppleAccount,
        _ store: SimulatedAppStore
    ) throws {
        guard let customer = step.customer else { return }
        switch step.action {
        case .claim:
            let transaction = account.originals[step.transaction]
            let originalID = transaction["originalTransactionId"]?.string ?? ""
            add(.claim(originalID: originalID, customer: customer), at: step.at)
        case .handIn:
            // Signed when it was made: what an app kept tells nothing of a refund since.
            let jws = try store.authority.sign(account.originals[step.transaction])
            add(.transaction(jws, customer: customer), at: step.at)
        case .forge:
            // Of an account's first purchase by its ids, which the account never made.
            var forged = SimulatedAppleAccount(step.account, token: customer.text, of: store)
            forged.buy(try Self.product(of: step), at: step.at)
            let forger = try forger ?? ScenarioRun.authority(around: step.at)
            add(.transaction(try forger.sign(forged.originals[0]), customer: customer), at: step.at)
        default: break
        }
    }
}
