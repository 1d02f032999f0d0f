import Synchronization

/// What became of deliveries to webhooks.
final class WebhookCounters: Sendable {
    private let state = Mutex(State())

    private struct State {
        var outcomes: [Outcome: UInt64] = [:]
        var waiting: UInt64 = 0
        var dead: UInt64 = 0
        var behind: UInt64 = 0
    }

    /// What became of an attempt.
    enum Outcome: String, CaseIterable {
        /// It was taken.
        case delivered
        /// It is tried again.
        case failed
        /// It is not tried any more.
        case dead
    }

    /// Counts an attempt.
    func count(_ outcome: Outcome) {
        state.withLock { $0.outcomes[outcome, default: 0] += 1 }
    }

    /// Says what waits for all webhooks together.
    func set(waiting: Int, dead: Int, behind: UInt64) {
        state.withLock { state in
            state.waiting = UInt64(waiting)
            state.dead = UInt64(dead)
            state.behind = behind
        }
    }

    /// Appends the families.
    func append(to text: inout PrometheusText) {
        let state = state.withLock { $0 }
        let name = "entitle_webhook_deliveries_total"
        text.family(name, "Attempts to deliver to webhooks, by what became of them.", .counter)
        for outcome in Outcome.allCases {
            text.sample(name, [("outcome", outcome.rawValue)], state.outcomes[outcome] ?? 0)
        }
        let gauges: [(String, String, UInt64)] = [
            ("waiting", "Deliveries that are tried again, or wait for one that is.", state.waiting),
            ("dead", "Deliveries that are not tried any more.", state.dead),
            (
                "behind", "Notices that were not looked at yet, of the webhook that has most.",
                state.behind
            ),
        ]
        for (word, help, value) in gauges {
            text.family("entitle_webhook_" + word, help, .gauge)
            text.sample("entitle_webhook_" + word, [], value)
        }
    }
}
