import EntitlementLedger
import Entitlements
import LedgerAPI
import Stores

/// What was fetched of each purchase, by the name under which it was told.
struct FetchTally {
    private(set) var entries: [PurchaseName: Entry] = [:]

    /// What came of asking about one.
    struct Entry {
        /// The purchase before anything was told; nil: nothing was known of it.
        var before: StandingPurchase?
        /// Transactions, states and renewals that were told.
        var found = 0
        /// Events of them that were missing.
        var appended = 0
        /// Why its store did not tell it whole; nil: it did.
        fileprivate var fault: SyncedPurchase.Code?
        /// Whether the ledger refused some of what was told, such as evidence beyond its limit.
        fileprivate var isRefused = false

        /// Why it was not fetched whole; nil: it was.
        var code: SyncedPurchase.Code? { fault ?? (isRefused ? .malformed : nil) }

        /// Whether there is anything to tell; not of a name that its store knows by another one.
        var isTold: Bool { found > 0 || code != nil || before != nil }
    }

    /// Begins with a purchase as it stands, unless it was begun with.
    mutating func begin(_ purchase: PurchaseName, _ before: StandingPurchase?) {
        if entries[purchase] == nil { entries[purchase] = Entry(before: before) }
    }

    /// Counts what became of what was told of an environment: what belongs to another one is recorded, and
    /// makes no purchase known in this one (Stores, trap 3).
    mutating func count(
        _ submissions: [Submission],
        _ receipts: [Receipt],
        in environment: StoreEnvironment
    ) {
        for (submission, receipt) in zip(submissions, receipts)
        where submission.environment == environment {
            var appended = 0
            if case .appended(_, let count) = receipt { appended = count }
            for purchase in submission.purchases {
                entries[purchase, default: Entry()].found += 1
                entries[purchase, default: Entry()].appended += appended
                if case .refused = receipt { entries[purchase, default: Entry()].isRefused = true }
            }
        }
    }

    /// Says that the store of a purchase cannot be asked, unless RevenueCat told of it.
    mutating func pass(_ purchase: PurchaseName) {
        if entries[purchase]?.found == 0 { conclude([purchase], .notConfigured) }
    }

    /// Says why purchases were not fetched whole; nil: they were, also those of which half an answer told before.
    mutating func conclude(_ purchases: Set<PurchaseName>, _ code: SyncedPurchase.Code?) {
        for purchase in purchases { entries[purchase, default: Entry()].fault = code }
    }
}

extension [Submission] {
    /// The purchases that those of an environment are about.
    func purchases(in environment: StoreEnvironment) -> Set<PurchaseName> {
        reduce(into: []) { purchases, submission in
            if submission.environment == environment { purchases.formUnion(submission.purchases) }
        }
    }
}

extension Submission {
    /// The purchases that it is about.
    var purchases: Set<PurchaseName> {
        Set(
            drafts.compactMap { draft in
                if case .purchase(let purchase) = draft.subject { purchase } else { nil }
            }
        )
    }
}

extension SyncedPurchase.Code {
    /// Why a store's API gave no answer.
    init(_ fault: StoreFault) {
        self =
            switch fault.code {
            case .unavailable: .unavailable
            case .rateLimited: .rateLimited
            case .resting: .resting
            case .notFound: .notFound
            case .notPermitted: .notPermitted
            case .rejected: .rejected
            case .malformed: .malformed
            }
    }
}
