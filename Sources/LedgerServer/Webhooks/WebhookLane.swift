import EntitlementLedger
import Entitlements
import LedgerOperations

/// Sends what a plan tells of one customer, in its order; behind what is not taken the rest waits.
struct WebhookLane: Sendable {
    let deliveries: [DeliveryPlan.Delivery]
    let secrets: [WebhookSecret]
    let client: WebhookClient
    let clock: @Sendable () -> Instant
    /// Told of each attempt, and whether one that failed is given up.
    let tell: @Sendable (DeliveryPlan.Delivery, DeliveryAttempt, _ isGivenUp: Bool) -> Void

    /// Sends them, and says what became of them.
    func results() async -> DeliveryResults {
        var results = DeliveryResults()
        for (place, delivery) in deliveries.enumerated() {
            let headers = delivery.message.headers(
                at: clock(),
                signedBy: secrets,
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
                results.postpone(deliveries[place...])
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
                results.postpone(deliveries[(place + 1)...])
                break
            }
        }
        return results
    }
}
