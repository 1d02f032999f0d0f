package import EntitlementLedger
package import Entitlements
package import LedgerAPI
package import LedgerOperations

/// Sends what happens to one address while somebody looks on: for who writes a receiver.
package struct WebhookForwarding: Sendable {
    private let webhooks: Webhooks
    private let webhook: Webhook
    private let clock: @Sendable () -> Instant

    /// How often it is looked whether something happened.
    private static let interval = Duration.milliseconds(100)

    /// Something that was sent, and what became of it.
    package struct Told: Sendable {
        /// The message.
        package var message: WebhookMessage
        /// Its type.
        package var type: String
        /// What the address answered; nil: nothing.
        package var status: Int?
        /// Why it answered nothing.
        package var fault: WebhookDelivery.Fault?
    }

    /// Forwarding to a webhook.
    package init(
        _ webhook: Webhook,
        of webhooks: Webhooks,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.webhooks = webhooks
        self.webhook = webhook
        self.clock = clock
    }

    /// Sends until the task is cancelled, or so many messages were taken.
    ///
    /// `tell`: told of each attempt.
    ///
    /// - Throws: what reading the log throws.
    package func run(
        pool: any BlockingPool,
        limit: Int = .max,
        tell: @escaping @Sendable (Told) -> Void
    ) async throws {
        let client = try WebhookClient(for: webhook, pool: pool)
        let outcome = await withTaskGroup(of: WebhookRound.Event.self) { group in
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(try await send(by: client, pool, limit, tell, in: &group))
            } catch {
                outcome = .failure(error)
            }
            group.cancelAll()
            return outcome
        }
        await client.close()
        try outcome.get()
    }

    private func send(
        by client: WebhookClient,
        _ pool: any BlockingPool,
        _ limit: Int,
        _ tell: @escaping @Sendable (Told) -> Void,
        in group: inout TaskGroup<WebhookRound.Event>
    ) async throws {
        var round = WebhookRound(client, clock: clock) { delivery, attempt, _ in
            tell(
                Told(
                    message: delivery.message,
                    type: delivery.type,
                    status: attempt.status,
                    fault: attempt.fault
                )
            )
        }
        var (left, bound) = (limit, WaitingBound())
        while left > 0, !Task.isCancelled {
            let underWay = round.underWay
            let plan = try await pool.run { [webhooks, webhook, clock, bound] in
                while try NoticeMaker(webhooks).step(at: clock()) == .goesOn {}
                return try DeliveryPlan(
                    of: webhook.id,
                    webhooks,
                    from: nil,
                    beside: underWay,
                    within: bound,
                    at: clock()
                )
            }
            guard let plan else { break }
            let (results, late) = await round.carryOut(plan, in: &group)
            left -= results.takenCount
            bound.note(results, of: plan, at: clock())
            try await pool.run { [webhooks] in try webhooks.keep(results, of: plan, beside: late) }
            if plan.isEmpty {
                // Who is cancelled ends with the next turn of the loop.
                try? await Task.sleep(for: Self.interval)
            }
        }
    }
}
