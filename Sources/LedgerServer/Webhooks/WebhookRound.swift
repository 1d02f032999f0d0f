import Entitlements
import LedgerOperations

/// Sends what a plan says: lane by lane in its order, some lanes at once.
struct WebhookRound: Sendable {
    let plan: DeliveryPlan
    let client: WebhookClient
    let clock: @Sendable () -> Instant
    /// Told of each attempt, and whether one that failed is given up.
    let tell: @Sendable (DeliveryPlan.Delivery, DeliveryAttempt, _ isGivenUp: Bool) -> Void

    /// Sends all of it, and says what became of it.
    func results() async -> DeliveryResults {
        var results = DeliveryResults()
        await withTaskGroup(of: DeliveryResults.self) { group in
            var lanes = plan.lanes.makeIterator()
            for _ in 0..<WebhookClient.connectionLimit {
                guard let lane = lanes.next() else { break }
                group.addTask { await send(lane) }
            }
            for await sent in group {
                results.add(sent)
                if let lane = lanes.next() { group.addTask { await send(lane) } }
            }
        }
        return results
    }

    /// Sends one lane; behind what is not taken the rest waits.
    private func send(_ lane: [DeliveryPlan.Delivery]) async -> DeliveryResults {
        var results = DeliveryResults()
        for (place, delivery) in lane.enumerated() {
            let headers = delivery.message.headers(
                at: clock(),
                signedBy: plan.secrets,
                isResent: delivery.state.isResent
            )
            let attempt = await client.send(headers, delivery.message.body)
            if attempt.isTaken {
                results.take(delivery)
                tell(delivery, attempt, false)
                continue
            }
            // Whoever stops the server lets no message fail.
            if Task.isCancelled {
                results.postpone(lane[place...])
                break
            }
            let isGivenUp = results.fail(
                delivery,
                attempt,
                at: clock(),
                random: Double.random(in: 0..<1)
            )
            tell(delivery, attempt, isGivenUp)
            // After one that is given up the rest goes on.
            if !isGivenUp {
                results.postpone(lane[(place + 1)...])
                break
            }
        }
        return results
    }
}
