package import Entitlements
import LMDBStorage
package import LedgerAPI

/// What became of one attempt to deliver.
package struct DeliveryAttempt: Sendable {
    /// What the endpoint answered; nil: nothing.
    package var status: Int?
    /// Why it answered nothing; nil: it did.
    package var fault: WebhookDelivery.Fault?
    /// After what time the endpoint wants to be asked again, as it says it; nil: it does not.
    package var retryAfter: String?

    /// Names what came of it.
    package init(
        status: Int? = nil,
        fault: WebhookDelivery.Fault? = nil,
        retryAfter: String? = nil
    ) {
        self.status = status
        self.fault = fault
        self.retryAfter = retryAfter
    }

    /// Whether the message was taken (Standard Webhooks 1.0.0: any 2xx; a redirection is none).
    package var isTaken: Bool { status.map { (200..<300).contains($0) } ?? false }
    /// Whether the endpoint wants no message any more.
    package var isGone: Bool { status == 410 }
}

/// What became of what a plan says.
package struct DeliveryResults: Sendable {
    var outcomes = DeliveryOutcomes()
    /// Whether the endpoint wants no message any more.
    package private(set) var isGone = false
    /// Notices whose messages were taken, and were not kept as waiting when they were sent.
    private var takenAtOnce: [UInt64] = []
    /// Messages that were taken.
    package var takenCount: Int { takenAtOnce.count + outcomes.done.count }

    /// Nothing yet.
    package init() {}

    /// Whether something is to be kept but how far it came.
    package var isEmpty: Bool {
        outcomes.waiting.isEmpty && outcomes.done.isEmpty && outcomes.dead.isEmpty && !isGone
    }

    /// A message was taken.
    package mutating func take(_ delivery: DeliveryPlan.Delivery) {
        // Of one that was never kept there is nothing to remove.
        if delivery.isKept {
            outcomes.done.append(delivery.notice)
        } else {
            takenAtOnce.append(delivery.notice)
        }
    }

    /// A message was not taken: it is tried again, or given up.
    ///
    /// `random`: from 0 to 1.
    ///
    /// - Returns: whether it is given up, so that what comes behind it is sent.
    package mutating func fail(
        _ delivery: DeliveryPlan.Delivery,
        _ attempt: DeliveryAttempt,
        at now: Instant,
        random: Double
    ) -> Bool {
        var state = delivery.state
        state.attempts += 1  // Fits: ten at most.
        (state.status, state.fault) = (attempt.status, attempt.fault)
        state.nextAt = RetrySchedule.next(
            after: state.attempts,
            retryAfter: attempt.retryAfter.flatMap { RetryAfter.milliseconds($0, at: now) },
            now: now,
            random: random
        )
        let stored = StoredDelivery(notice: delivery.notice, bytes: state.bytes)
        if attempt.isGone {
            // It says nothing of this message: once it is enabled again, that is as it was.
            isGone = true
            postpone([delivery])
        } else if state.nextAt == nil {
            outcomes.dead.append(stored)
            return true
        } else {
            outcomes.waiting.append(stored)
        }
        return false
    }

    /// Messages were not sent: those that are not kept yet wait from now on.
    package mutating func postpone(_ lane: some Sequence<DeliveryPlan.Delivery>) {
        outcomes.waiting += lane.filter { !$0.isKept }.map {
            StoredDelivery(notice: $0.notice, bytes: $0.state.bytes)
        }
    }

    /// Adds what became of other lanes.
    package mutating func add(_ other: DeliveryResults) {
        outcomes.add(other.outcomes)
        isGone = isGone || other.isGone
        takenAtOnce += other.takenAtOnce
    }

    /// The same of a lane that was kept as waiting while it was sent.
    package var ofKept: DeliveryResults {
        var results = self
        results.outcomes.done += takenAtOnce
        results.takenAtOnce = []
        return results
    }
}

extension DeliveryOutcomes {
    mutating func add(_ other: DeliveryOutcomes) {
        done += other.done
        waiting += other.waiting
        dead += other.dead
    }
}
