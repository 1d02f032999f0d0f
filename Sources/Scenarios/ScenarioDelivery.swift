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

    /// Makes one; nothing unless said otherwise.
    package init(seed: UInt64? = nil, duplicatePercent: Int = 0, losePercent: Int = 0) {
        self.seed = seed
        self.duplicatePercent = duplicatePercent
        self.losePercent = losePercent
    }

    /// Whether everything comes in its order: then what was known at R can be told.
    package var isOrderly: Bool { seed == nil && losePercent == 0 }

    /// The messages in the order in which they come, with when each does.
    ///
    /// What a customer asks comes when it is asked, behind what was sent before, if that is not late.
    func deliveries(of messages: [ScenarioMessage]) -> [(at: Instant, message: ScenarioMessage)] {
        guard let seed else { return messages.map { ($0.at, $0) } }
        var random = SeededWords(seed: seed)
        var deliveries: [(at: Instant, order: UInt64, message: ScenarioMessage)] = []
        for message in messages {
            guard message.isSent else {
                deliveries.append((message.at, 0, message))
                continue
            }
            if random.percent() < losePercent { continue }
            let count = random.percent() < duplicatePercent ? 2 : 1
            for _ in 0..<count {
                let late = Int64(random.next() % UInt64(Self.latest))
                deliveries.append(
                    (message.at.advanced(byMilliseconds: late), random.next(), message)
                )
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
