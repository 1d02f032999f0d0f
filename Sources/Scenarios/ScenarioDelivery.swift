import Entitlements
import StoreSimulator

/// How what a store sends reaches a ledger.
package struct ScenarioDelivery: Sendable, Hashable {
    /// Makes the order, and decides on each message; nil: each comes at once, in order, once.
    package var seed: UInt64?
    /// How many of 100 messages come twice.
    package var duplicatePercent: Int
    /// How many of 100 never come.
    package var losePercent: Int
    /// For how many of 100 parts of the time nothing comes, and stores answer nothing.
    package var outagePercent: Int

    /// Makes one; nothing unless said otherwise.
    package init(
        seed: UInt64? = nil,
        duplicatePercent: Int = 0,
        losePercent: Int = 0,
        outagePercent: Int = 0
    ) {
        self.seed = seed
        self.duplicatePercent = duplicatePercent
        self.losePercent = losePercent
        self.outagePercent = outagePercent
    }

    /// Whether everything comes in its order: then what was known at R can be told.
    package var isOrderly: Bool { seed == nil && !isLossy }

    /// Whether something may never come.
    package var isLossy: Bool { losePercent > 0 || outagePercent > 0 }

    /// When nothing comes; nil: there is no such stretch.
    func outage(of messages: [ScenarioMessage]) -> Range<Instant>? {
        guard outagePercent > 0, let first = messages.map(\.at).min(),
            let last = messages.map(\.at).max()
        else { return nil }
        let span = last.milliseconds - first.milliseconds + Instant.millisecondsPerDay
        // Fits: a hundred times the days of a scenario.
        let length = max(1, span * Int64(outagePercent) / 100)
        var random = SeededWords(seed: SeededWords.mix(seed ?? 0))
        let start = first.advanced(
            byMilliseconds: Int64(random.next() % UInt64(max(1, span - length)))
        )
        return start..<start.advanced(byMilliseconds: length)
    }

    /// The messages in the order in which they come, with when each does.
    ///
    /// What a customer asks comes when it is asked, behind what was sent before, if that is not late.
    func deliveries(of messages: [ScenarioMessage]) -> [(at: Instant, message: ScenarioMessage)] {
        let outage = outage(of: messages)
        guard !isOrderly || duplicatePercent > 0 else { return messages.map { ($0.at, $0) } }
        var random = SeededWords(seed: seed ?? 0)
        var deliveries: [(at: Instant, order: UInt64, message: ScenarioMessage)] = []
        for (place, message) in messages.enumerated() {
            guard let sender = message.sender else {
                deliveries.append((message.at, 0, message))
                continue
            }
            if random.percent() < losePercent { continue }
            let count = random.percent() < duplicatePercent ? 2 : 1
            for _ in 0..<count {
                let late = seed == nil ? 0 : Int64(random.next() % UInt64(Self.latest))
                let order = seed == nil ? UInt64(place) : random.next()
                let sent = message.at.advanced(byMilliseconds: late)
                guard let at = sender.arrival(of: sent, outage) else { continue }
                deliveries.append((at, order, message))
            }
        }
        return deliveries.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
            .map { ($0.at, $0.message) }
    }

    /// Milliseconds that a message may be late: longer than the App Store sends again (157 hours,
    /// developer.apple.com/documentation/appstoreservernotifications/responding-to-app-store-server-notifications),
    /// so that whole periods overtake one another.
    private static let latest = 40 * Instant.millisecondsPerDay
}

extension ScenarioStore {
    /// When a message comes that is sent again until nobody is out of reach; nil: never.
    func arrival(of sent: Instant, _ outage: Range<Instant>?) -> Instant? {
        guard let outage, outage.contains(sent) else { return sent }
        return retries.lazy.map { sent.advanced(byMilliseconds: $0) }
            .first { $0 >= outage.upperBound }
    }

    /// Whether it takes an answer for success, and sends no more.
    ///
    /// The App Store takes 200 to 206
    /// (developer.apple.com/documentation/appstoreservernotifications/responding-to-app-store-server-notifications),
    /// Pub/Sub 102, 200, 201, 202 and 204 (cloud.google.com/pubsub/docs/push), RevenueCat 200 alone
    /// (revenuecat.com/docs/integrations/webhooks).
    func takes(status: Int) -> Bool {
        switch self {
        case .appStore: (200...206).contains(status)
        case .playStore: [102, 200, 201, 202, 204].contains(status)
        case .revenueCat: status == 200
        }
    }

    /// Milliseconds behind the first attempt at which others follow.
    ///
    /// The App Store tries again 1, 12, 24, 48 and 72 hours after the attempt before
    /// (developer.apple.com/documentation/appstoreservernotifications/responding-to-app-store-server-notifications),
    /// RevenueCat 5, 10, 20, 40 and 80 minutes after it
    /// (revenuecat.com/docs/integrations/webhooks), Pub/Sub for a week, ten minutes apart at most
    /// (cloud.google.com/pubsub/docs/handling-failures).
    var retries: [Int64] {
        let (minute, hour): (Int64, Int64) = (60_000, 3_600_000)
        switch self {
        case .appStore: return [1, 13, 37, 85, 157].map { $0 * hour }
        case .playStore: return (1...1008).map { $0 * 10 * minute }
        case .revenueCat: return [5, 15, 35, 75, 155].map { $0 * minute }
        }
    }
}
