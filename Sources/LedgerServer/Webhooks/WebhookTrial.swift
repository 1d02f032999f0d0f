package import EntitlementLedger
package import Entitlements
package import LedgerAPI
package import LedgerOperations

/// Sends a message that tells of nothing, to see whether a webhook takes it.
package struct WebhookTrial: Sendable {
    private let webhook: Webhook
    private let secrets: [WebhookSecret]
    private let pool: any BlockingPool

    /// A trial of a webhook with the secrets that sign now.
    package init(webhook: Webhook, secrets: [WebhookSecret], pool: any BlockingPool) {
        self.webhook = webhook
        self.secrets = secrets
        self.pool = pool
    }

    /// Sends the message once.
    ///
    /// - Throws: `InputFault` where the webhook's address is none.
    package func answer(
        sending message: WebhookMessage,
        at now: Instant
    ) async throws -> WebhookTestAnswer {
        let client = try WebhookClient(for: webhook, pool: pool)
        let clock = ContinuousClock()
        let start = clock.now
        let attempt = await client.send(
            message.headers(at: now, signedBy: secrets, isResent: false),
            message.body
        )
        await client.close()
        return WebhookTestAnswer(
            isTaken: attempt.isTaken,
            status: attempt.status,
            fault: attempt.fault,
            milliseconds: Int((clock.now - start).microseconds / 1000)
        )
    }
}

extension WebhookMessage {
    /// What stands above a message (Standard Webhooks 1.0.0), signed by each secret that counts.
    func headers(
        at now: Instant,
        signedBy secrets: [WebhookSecret],
        isResent: Bool
    ) -> [(String, String)] {
        let seconds = now.milliseconds / 1000
        let signatures = secrets.map { $0.signature(of: body, id: id, at: seconds) }
        var headers = [
            ("content-type", Self.mediaType),
            ("user-agent", "entitlement-ledger/\(ProductVersion.current)"),
            ("webhook-id", id), ("webhook-timestamp", String(seconds)),
            ("webhook-signature", signatures.joined(separator: " ")),
        ]
        // It may come behind what happened later.
        if isResent { headers.append(("ledger-resent", "true")) }
        return headers
    }
}
