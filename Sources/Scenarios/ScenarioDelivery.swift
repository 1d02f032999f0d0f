import Entitlements

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
        var random = SeededNumbers(seed: seed)
        var deliveries: [(at: Instant, order: UInt64, message: ScenarioMessage)] = []
        for message in messages {
            guard message.isSent else {
                deliveries.append((message.at, 0, message))
                continue
            }
            if random.percent() < losePercent { continue }
            let count = random.percent() < duplicatePercent ? 2 : 1
            for _ in 0..<count {
                // Within three days, as the App Store sends again what was not taken.
                let late = Int64(random.next() % UInt64(Self.latest))
                deliveries.append(
                    (message.at.advanced(byMilliseconds: late), random.next(), message)
                )
            }
        }
        return deliveries.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
            .map { ($0.at, $0.message) }
    }

    private static let latest = 40 * Instant.millisecondsPerDay
}

/// Numbers that a seed makes (SplitMix64, prng.di.unimi.it/splitmix64.c).
struct SeededNumbers {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var number = state
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
    }

    /// 0 to 99.
    mutating func percent() -> Int { Int(next() % 100) }
}
