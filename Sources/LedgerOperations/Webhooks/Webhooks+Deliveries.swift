package import Encodings
import EntitlementLedger
import LMDBStorage
package import LedgerAPI

/// What was not taken, and what is delivered once more.
extension Webhooks {
    /// Notices that one call looks at, at most.
    private static let pageSize = 1000

    /// Deliveries to one that were not taken, the first ones; nil: there is none of that id.
    package func deliveries(
        of id: String,
        _ state: WebhookDelivery.State,
        limit: Int
    ) throws -> [WebhookDelivery]? {
        guard let number = Self.number(of: id), try store.endpoint(number) != nil else {
            return nil
        }
        let stored =
            state == .dead
            ? try store.dead(of: number, limit: limit)
            : try store.waiting(for: number, limit: limit)
        return try stored.map { stored in
            let notice = try store.notice(stored.notice).flatMap { Notice($0.bytes) }
            let delivery = DeliveryState(stored.bytes)
            return WebhookDelivery(
                id: notice?.id(of: ledger.identity),
                number: stored.notice,
                type: notice?.type,
                state: state,
                attempts: delivery?.attempts ?? 0,
                nextAttemptAt: delivery?.nextAt,
                status: delivery?.status,
                fault: delivery?.fault
            )
        }
    }

    /// Delivers notices of a range once more, those that are wanted, whether they were taken or not; a
    /// thousand are looked at.
    ///
    /// - Returns: nil: there is none of that id.
    package func resend(to id: String, _ numbers: Range<UInt64>) throws -> WebhookResendAnswer? {
        guard let (number, webhook) = try found(id) else { return nil }
        // What was not looked at yet is delivered anyway.
        let end = min(numbers.upperBound, try store.cursor(of: number) ?? 0)
        let page = try store.notices(from: numbers.lowerBound, limit: Self.pageSize)
            .filter { $0.number < end }
        let resent = try resend(page, to: number, webhook)
        // Fits: below the end.
        let next = page.last.map { $0.number + 1 } ?? end
        let isAll = try next >= end || store.notices(from: next, limit: 1).isEmpty
        return WebhookResendAnswer(resent: resent, next: isAll ? nil : next)
    }

    /// Delivers messages once more.
    ///
    /// Cost: a look at each notice that is kept, until all are found.
    ///
    /// - Returns: nil: there is none of that id.
    package func resend(to id: String, messages: Set<Name>) throws -> WebhookResendAnswer? {
        guard let (number, webhook) = try found(id) else { return nil }
        let end = try store.cursor(of: number) ?? 0
        var (next, wanted, resent) = (UInt64(0), messages, 0)
        while !wanted.isEmpty {
            let page = try store.notices(from: next, limit: Self.pageSize)
                .filter { $0.number < end }
            guard let last = page.last else { break }
            next = last.number + 1  // Fits: below the end.
            let met = page.filter { stored in
                Notice(stored.bytes).map { wanted.remove(Name($0.id(of: ledger.identity))) != nil }
                    ?? false
            }
            resent += try resend(met, to: number, webhook)
        }
        return WebhookResendAnswer(resent: resent, next: nil)
    }

    private func found(_ id: String) throws -> (number: UInt64, webhook: Webhook)? {
        guard let number = Self.number(of: id), let bytes = try store.endpoint(number) else {
            return nil
        }
        return try Self.webhook(bytes).map { (number, $0) }
    }

    /// Says of notices that they are to be delivered again; those that wait are tried at once.
    private func resend(
        _ notices: [StoredNotice],
        to number: UInt64,
        _ webhook: Webhook
    ) throws -> Int {
        guard !notices.isEmpty else { return 0 }
        let waiting = Dictionary(
            try store.waiting(for: number).map { ($0.notice, $0.bytes) },
            uniquingKeysWith: { first, _ in first }
        )
        var outcomes = DeliveryOutcomes()
        outcomes.waiting = notices.compactMap { stored in
            guard let notice = Notice(stored.bytes), webhook.wants(notice) else { return nil }
            var delivery =
                waiting[stored.number].flatMap { DeliveryState($0) }
                ?? DeliveryState(stream: notice.stream, isResent: true)
            delivery.nextAt = nil
            return StoredDelivery(notice: stored.number, bytes: delivery.bytes)
        }
        try store.record(outcomes, of: number)
        return outcomes.waiting.count
    }

    /// Keeps what became of a plan, and how far it came; lanes that are sent still wait.
    package func keep(
        _ results: DeliveryResults,
        of plan: DeliveryPlan,
        beside underWay: [[DeliveryPlan.Delivery]] = []
    ) throws {
        var results = results
        for lane in underWay { results.postpone(lane) }
        results.outcomes.add(plan.outcomes)
        results.outcomes.cursor = plan.cursor
        try keep(results, of: plan.webhook.id)
    }

    /// Keeps how far a webhook was told.
    package func keep(_ cursor: UInt64, of id: String) throws {
        guard let number = Self.number(of: id) else { return }
        try store.record(DeliveryOutcomes(cursor: cursor), of: number)
    }

    /// Keeps what became of messages to a webhook.
    package func keep(_ results: DeliveryResults, of id: String) throws {
        guard let number = Self.number(of: id) else { return }
        if results.isGone { _ = try disable(id, because: .gone) }
        try store.record(results.outcomes, of: number)
    }
}
