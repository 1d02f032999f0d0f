import Encodings
import Entitlements

extension SlowPurchase {
    /// P9: the last period that has started at T.
    private func lastPeriod(at instant: Instant) -> SlowPeriod? {
        periods.last { $0.start <= instant }
    }

    /// P9: the first that holds.
    func status(at instant: Instant) -> String {
        guard let period = lastPeriod(at: instant) else {
            let last = events.of(.purchasePending, .purchaseAbandoned)
                .filter { $0.time <= instant }.inOrderOfTime.last
            return last?.kind == .purchasePending ? "pending" : "none"
        }
        if let newest = revocations(of: period, at: instant).newest {
            return newest.kind == .revocationRefunded ? "refunded" : "revoked"
        }
        if !isVerified(period, at: instant) { return "unverified" }
        if isPaused(at: instant) { return "paused" }
        guard let end = end(of: period), instant >= end else { return "active" }
        if leeway(of: period)?.contains(instant) == true { return "active" }
        if grace(of: period)?.contains(instant) == true { return "grace" }
        let retries = speaking(of: period, .purchaseRetryStarted).filter { $0.time <= instant }
        let expiries = speaking(of: period, .purchaseExpired).filter { $0.time <= instant }
        return !retries.isEmpty && expiries.isEmpty ? "billing_retry" : "expired"
    }

    /// P10: nil where it is absent.
    private func willRenew(at instant: Instant) -> Bool? {
        guard lastPeriod(at: instant)?.isAutoRenewable == true else { return nil }
        return events.of(.purchaseRenewalChanged)
            .filter { $0.time <= instant && $0.data.flag(.autoRenew) != nil }.newest?
            .data.flag(.autoRenew) ?? true
    }

    /// Whether it expired, would renew, and nobody said that it ended or was renewed.
    func expectsRenewal(at instant: Instant) -> Bool {
        guard let period = lastPeriod(at: instant), status(at: instant) == "expired",
            willRenew(at: instant) == true
        else { return false }
        let isLast = periods.allSatisfy { $0.start <= instant }
        let isTold = speaking(of: period, .purchaseExpired).contains { $0.time <= instant }
        return isLast && !isTold
    }

    /// The element of `purchases`.
    func json(at instant: Instant) -> JSONValue {
        let period = lastPeriod(at: instant)
        var nextProductID: String?
        if let period, period.isAutoRenewable {
            // P10
            let changes = events.of(.purchaseRenewalChanged).filter { $0.time <= instant }
            nextProductID =
                changes.filter { $0.data.text(.nextProductID) != nil }.newest?
                .data.text(.nextProductID)
        }
        // P11
        let syncs = events.of(.syncCompleted, .syncReconciled).filter { $0.time <= instant }
        let syncedAt = syncs.map(\.time).max()
        return .members([
            "purchase": .string(name.description), "productId": .optional(period?.productID),
            "productKind": .optional(period?.kind), "status": .string(status(at: instant)),
            "expiresAt": .instant(period.flatMap { end(of: $0) }),
            "isVerified": .bool(period.map { isVerified($0, at: instant) } ?? false),
            "isSynced": .bool(syncedAt != nil), "syncedAt": .instant(syncedAt),
            "willRenew": willRenew(at: instant).map { .bool($0) } ?? .null,
            "nextProductId": .optional(nextProductID),
        ])
    }
}
