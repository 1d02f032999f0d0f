import Encodings
import Entitlements
import StoreSimulator

/// Steps at Google Play, and what RevenueCat tells.
extension ScenarioMessages {
    mutating func playPlayStore(_ step: ScenarioStep) throws {
        var account =
            accounts.playStore[step.account]
            ?? SimulatedPlayAccount(
                step.account,
                accountID: step.customer?.text,
                of: playStore
            )
        let sent = account.pushes.count
        if step.action == .handIn {
            // The app keeps the token, of an unpaid purchase also.
            guard step.purchase < account.purchaseCount else {
                throw MissingPurchase(member: "purchase")
            }
            if let customer = step.customer {
                add(.token(account.token(step.purchase), customer: customer), at: step.at)
            }
        } else {
            try Self.play(step, on: &account)
        }
        for push in account.pushes[sent...] {
            add(.push(Array(push.body.description.utf8)), at: push.time)
        }
        accounts.playStore[step.account] = account
    }

    private static func play(_ step: ScenarioStep, on account: inout SimulatedPlayAccount) throws {
        let (place, time) = (step.purchase, step.at)
        try require(step, purchases: account.purchaseCount, transactions: account.orderCount)
        switch step.action {
        case .buy:
            account.buy(
                try product(of: step),
                quantity: step.quantity,
                at: time,
                renewingTo: productAfterTrial(of: step)
            )
        case .pend: account.pend(try product(of: step), at: time)
        case .pay: account.pay(place, at: time)
        case .abandon: account.abandon(place, at: time)
        case .renew: account.renew(place, at: time)
        case .fail: account.failRenewal(place, graceUntil: step.until, at: time)
        case .endGrace: account.hold(place, at: time)
        case .pause: account.pause(place, until: step.until, at: time)
        case .expire: account.expire(place, at: time)
        case .cancel: account.setRenewal(place, false, at: time)
        case .uncancel: account.setRenewal(place, true, at: time)
        case .upgrade: account.upgrade(place, to: try product(of: step), at: time)
        case .revoke: account.revoke(place, at: time)
        case .refund: account.refund(step.transaction, at: time)
        case .refundPart: account.refundPart(step.transaction, at: time)
        // The others are no steps of this store.
        default: break
        }
    }

    mutating func playRevenueCat(_ step: ScenarioStep) throws {
        var account =
            accounts.revenueCat[step.account]
            ?? SimulatedRevenueCatAccount(
                step.account,
                of: step.customer ?? ScenarioCustomers.usual
            )
        let sent = account.webhooks.count
        let (place, time) = (step.purchase, step.at)
        try Self.require(
            step,
            purchases: account.purchaseCount,
            transactions: account.transactionCount
        )
        switch step.action {
        case .buy: account.buy(try Self.product(of: step), at: time)
        case .renew: account.renew(place, at: time)
        case .fail: account.failRenewal(place, graceUntil: step.until, at: time)
        case .expire: account.expire(place, at: time)
        case .cancel: account.setRenewal(place, false, at: time)
        case .uncancel: account.setRenewal(place, true, at: time)
        case .refund: account.refund(step.transaction, at: time)
        case .transfer: if let taker = step.customer { account.transfer(to: taker, at: time) }
        // The others are no steps that it tells.
        default: break
        }
        for webhook in account.webhooks[sent...] {
            add(.webhook(Array(webhook.body.description.utf8)), at: webhook.time)
        }
        accounts.revenueCat[step.account] = account
    }
}
