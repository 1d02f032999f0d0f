import Entitlements
package import LedgerAPI

/// What a running server does by itself, and what waits for those whom it tells.
extension Checkup {
    /// A long audit runs for hours; what is later than this does not run.
    private static let jobPatience: Int64 = 6 * 3_600_000

    /// Looks at a server's jobs.
    package mutating func lookAtJobs(_ jobs: [JobStatus]) {
        for job in jobs {
            if job.result == .failed {
                add(
                    .jobFailed,
                    "its last run failed"
                        + (job.lastDoneAt.map { ", the last good one was at \($0)" }
                            ?? ", and none was good since the server began"),
                    at: job.name,
                    do: "look at the server's log for the fault"
                )
            }
            if let next = job.nextRunAt,
                next.advanced(byMilliseconds: Self.jobPatience) < now
            {
                add(
                    .jobLate,
                    "it was to run at \(next)",
                    at: job.name,
                    do: "it hangs: look at the server's log, then start the server again"
                )
            }
        }
    }

    /// Looks at those who are told of what happens.
    package mutating func lookAtWebhooks(_ webhooks: [Webhook]) {
        for webhook in webhooks {
            if let dead = webhook.dead, dead > 0 {
                add(
                    .deliveriesDead,
                    "\(dead) deliveries are not tried any more",
                    at: webhook.id,
                    do:
                        "mend the receiver: `entitle webhooks deliveries \(webhook.id) --state dead` "
                        + "lists messages, `entitle webhooks resend \(webhook.id) MESSAGE` sends one"
                )
            }
            if let waiting = webhook.waiting, waiting > 0 {
                add(
                    .deliveriesWaiting,
                    "\(waiting) deliveries are tried again",
                    at: webhook.id,
                    do: "`entitle webhooks deliveries \(webhook.id)` says what the receiver answers"
                )
            }
            if webhook.disabledBecause == .gone {
                add(
                    .webhookGone,
                    "it answered that it is gone, and is told nothing",
                    at: webhook.id,
                    do: "`entitle webhooks enable \(webhook.id)` once it is back, or remove it"
                )
            }
        }
    }
}
