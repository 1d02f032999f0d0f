import Encodings
import Entitlements

/// How a subscription stands: its last transaction, and what the App Store signs beside it of what
/// comes next (`lastTransactions` of a StatusResponse,
/// developer.apple.com/documentation/appstoreserverapi/lasttransactionsitem).
///
/// It tells again what notifications told that may be lost: grace, retry and end. What lies behind the
/// last transaction is not kept: a grace that was recovered from leaves no trace, nor one that is over
/// (developer.apple.com/documentation/storekit/product/subscriptioninfo/renewalinfo/graceperiodexpirationdate).
struct AppStoreStanding {
    private let period: AppStorePeriod
    private let renewal: AppStoreRenewalInfo

    /// Nil: the two are not of one purchase, or the transaction is no period of a subscription.
    init?(_ renewal: VerifiedAppStoreRenewalInfo, after transaction: VerifiedAppStoreTransaction) {
        guard let purchase = renewal.purchase, purchase == transaction.purchase,
            // What it lacks is told of the transaction itself.
            let period = try? AppStorePeriod(transaction), period.kind == .autoRenewable
        else { return nil }
        self.period = period
        self.renewal = renewal.content
    }

    /// What its notifications said, or would have.
    func drafts() throws(InputFault) -> [EventDraft] {
        guard let end = period.end else { return [] }
        let saidAt = renewal.signedAt
        let graceUntil = try renewal.payload.instant("gracePeriodExpiresDate")
        var drafts: [EventDraft] = []
        if let graceUntil {
            drafts.append(period.grace(until: graceUntil, from: end, saidAt: saidAt))
        }
        let isRetried = renewal.payload["isInBillingRetryPeriod"]?.bool ?? false
        if isRetried {
            let start = graceUntil ?? end
            if start <= saidAt {
                var retry = period.retry(at: start, saidAt: saidAt)
                // Where a grace is over, that there was one is not said: one that was told outlasts this (P4;
                // Stores, rule 7).
                if graceUntil == nil { retry.observedAt = period.start.saidWeakly(until: end) }
                drafts.append(retry)
            }
        } else if renewal.expirationIntent != nil, end <= saidAt {
            let reason = renewal.expirationReason
            drafts.append(period.expiration(at: end, reason: reason, saidAt: saidAt))
        }
        return drafts
    }
}
