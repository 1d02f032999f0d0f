import Encodings
package import Entitlements

/// Something that happens to a purchase because somebody wants it to.
package enum SimulatedStep: String, CaseIterable, Sendable {
    case renew, grace
    /// Renewal is not paid, and no grace is given.
    case failRenewal = "fail_renewal"
    case endGrace = "end_grace"
    case expire
    /// Renewal is turned off, and on again.
    case cancel, resume
    /// It is bought again.
    case resubscribe
    case refund
    case reverseRefund = "reverse_refund"
}

extension SimulatedAppleAccount {
    /// Something that was bought, and how it stands.
    package struct Bought: Sendable {
        /// Its first transaction.
        package var id: String
        package var productID: String
        package var standing: Standing
        /// When its period ends, or ended; nil: it has none.
        package var end: Instant?
    }

    /// How something that was bought stands.
    package enum Standing: String, CaseIterable, Sendable {
        case renewing, ending, grace, retry, over, refunded
        /// Paid once, and kept.
        case owned
    }

    /// Days of grace (developer.apple.com/help/app-store-connect/manage-subscriptions).
    private static let graceDays: Int64 = 16
    /// Days for which the App Store tries to be paid.
    private static let retryDays: Int64 = 60

    /// All that was bought, the newest last.
    package var bought: [Bought] {
        let ids = Set(subscriptions.map { Name($0.originalID) })
        let once = originals.filter { payload in
            payload["originalTransactionId"]?.string.map { !ids.contains(Name($0)) } ?? false
        }
        return once.compactMap { payload in
            guard let id = payload["transactionId"]?.string else { return nil }
            return Bought(
                id: id,
                productID: payload["productId"]?.string ?? "",
                standing: isRefunded(id) ? .refunded : .owned
            )
        }
            + subscriptions.map { subscription in
                Bought(
                    id: subscription.originalID,
                    productID: subscription.product.id,
                    standing: standing(of: subscription),
                    end: subscription.end
                )
            }
    }

    private func standing(of subscription: Subscription) -> Standing {
        if isRefunded(subscription.last) { return .refunded }
        if subscription.isOver { return .over }
        if subscription.isRetried {
            return subscription.graceUntil == nil ? .retry : .grace
        }
        return subscription.renews ? .renewing : .ending
    }

    private func isRefunded(_ id: String) -> Bool {
        transactions.contains {
            id.isSame(as: $0["transactionId"]?.string) && $0["revocationDate"]?.integer != nil
        }
    }

    // MARK: By itself

    /// What happens by itself, to which subscription, and when.
    typealias Due = (place: Int, step: SimulatedStep, at: Instant)

    /// What happens next by itself; nil: nothing does.
    ///
    /// `excepted`: the first transaction of a subscription that is left alone.
    func due(except excepted: String? = nil) -> Due? {
        subscriptions.indices.compactMap { place in
            let subscription = subscriptions[place]
            guard !subscription.originalID.isSame(as: excepted) else { return nil }
            switch standing(of: subscription) {
            case .renewing: return (place, .renew, subscription.end)
            case .ending: return (place, .expire, subscription.end)
            case .grace:
                return (place, .endGrace, subscription.graceUntil ?? subscription.end)
            case .retry: return (place, .expire, subscription.end.plus(days: Self.retryDays))
            case .over, .refunded, .owned: return nil
            }
        }
        .min { $0.at < $1.at }
    }

    // MARK: By somebody's will

    /// When a step can happen to a purchase at the earliest; nil: it cannot, as the purchase stands.
    func time(of step: SimulatedStep, to id: String, at now: Instant) -> Instant? {
        guard let purchase = bought.first(where: { $0.id.isSame(as: id) }) else { return nil }
        let end = max(now, purchase.end ?? now)
        switch (step, purchase.standing) {
        case (.renew, .renewing), (.grace, .renewing), (.failRenewal, .renewing),
            (.expire, .renewing), (.expire, .ending):
            return end
        case (.renew, .grace), (.renew, .retry), (.expire, .retry), (.cancel, .renewing),
            (.resume, .ending), (.resubscribe, .over), (.reverseRefund, .refunded):
            return now
        case (.endGrace, .grace):
            let grace = subscriptions.first { $0.originalID.isSame(as: id) }?.graceUntil
            return max(now, grace ?? now)
        case (.refund, let standing): return standing == .refunded ? nil : now
        default: return nil
        }
    }

    /// Lets a step happen that can.
    mutating func take(_ step: SimulatedStep, to id: String, at time: Instant) {
        let place = subscriptions.firstIndex { $0.originalID.isSame(as: id) }
        let last = place.map { subscriptions[$0].last } ?? id
        let transaction = originals.firstIndex { last.isSame(as: $0["transactionId"]?.string) }
        switch (step, place, transaction) {
        case (.refund, _, let transaction?): refund(transaction, at: time)
        case (.reverseRefund, _, let transaction?): reverseRefund(transaction, at: time)
        case (_, let place?, _): take(step, place, at: time)
        default: break
        }
    }

    /// Lets a step happen to a subscription.
    mutating func take(_ step: SimulatedStep, _ place: Int, at time: Instant) {
        switch step {
        case .renew: renew(place, at: time)
        case .grace:
            failRenewal(place, graceUntil: time.plus(days: Self.graceDays), at: time)
        case .failRenewal: failRenewal(place, graceUntil: nil, at: time)
        case .endGrace: endGrace(place, at: time)
        case .expire: expire(place, at: time)
        case .cancel: setRenewal(place, false, at: time)
        case .resume: setRenewal(place, true, at: time)
        case .resubscribe: resubscribe(place, at: time)
        case .refund, .reverseRefund: break
        }
    }
}

extension Instant {
    fileprivate func plus(days: Int64) -> Instant {
        // Fits: months, at the most.
        advanced(byMilliseconds: days * Instant.millisecondsPerDay)
    }
}
