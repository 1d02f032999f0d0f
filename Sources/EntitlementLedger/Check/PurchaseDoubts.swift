package import Encodings
package import Entitlements
import EventLog

/// What is doubtful about purchases at an instant: signs of signals that were lost, and purchases of which
/// a store should be asked (Stores, rules 3 and 7; Z12).
package struct PurchaseDoubts: Sendable {
    /// By store.
    package private(set) var counts: [Name: Counts] = [:]
    /// Some about which their stores should be asked, by the names that they are shown by.
    package fileprivate(set) var purchases: [PurchaseName] = []
    /// Where the next ones of each store begin.
    package fileprivate(set) var next: [Name: UInt64] = [:]

    /// Purchases of a store.
    package struct Counts: Sendable, Hashable {
        /// Those that renew by themselves, with those that were to and did not.
        package var renewing = 0
        /// Those that ended by time alone and would renew: the store has not told.
        package var renewalsExpected = 0
        /// Those that were claimed by old evidence and of which the store was not asked since.
        package var unconfirmed = 0
        /// Those that Google takes back unless they are acknowledged within three days.
        package var unacknowledged = 0

        /// Renewals that do not come of a hundred that renew, beyond which signals may be missing.
        private static let alertPercentage = 5
        /// So many are nothing by themselves.
        private static let alertLeast = 5

        /// Whether so many renewals do not come that signals may be lost.
        package var lacksRenewals: Bool {
            // Fits: counts of purchases in memory.
            renewalsExpected >= Self.alertLeast
                && renewalsExpected * 100 > renewing * Self.alertPercentage
        }
    }

    fileprivate mutating func add(_ counts: Counts, of store: Name) {
        let known = self.counts[store] ?? Counts()
        self.counts[store] = Counts(
            renewing: known.renewing + counts.renewing,
            renewalsExpected: known.renewalsExpected + counts.renewalsExpected,
            unconfirmed: known.unconfirmed + counts.unconfirmed,
            unacknowledged: known.unacknowledged + counts.unacknowledged
        )
    }
}

extension Questions {
    /// What is doubtful about the purchases that somebody owns at an instant, by all that is known.
    ///
    /// `limit`: so many purchases of each store are named, from the number in `starts` on and around the end:
    /// those of which their stores never tell do not keep others from being asked about.
    ///
    /// Cost: as `foldCustomers`, and 8 bytes for each that is doubtful.
    package func purchaseDoubts(
        in environment: StoreEnvironment,
        at instant: Instant,
        from starts: [Name: UInt64] = [:],
        limit: Int
    ) throws -> PurchaseDoubts {
        let parts = try foldCustomers(
            upTo: log.end().size,
            environment: environment,
            into: (doubts: PurchaseDoubts(), numbers: [Name: [UInt64]]())
        ) { part, timeline in
            for owned in timeline.owned(at: instant) {
                let purchase = owned.timeline
                guard let store = purchase.store else { continue }
                let counts = owned.counts(at: instant)
                let name = Name(store)
                part.doubts.add(counts, of: name)
                let isDoubtful =
                    counts.renewalsExpected + counts.unconfirmed + counts.unacknowledged > 0
                if isDoubtful { part.numbers[name, default: []].append(purchase.number) }
            }
        }
        var whole = PurchaseDoubts()
        for (store, counts) in parts.flatMap(\.doubts.counts) { whole.add(counts, of: store) }
        let byStore = parts.reduce(into: [Name: [UInt64]]()) { all, part in
            all.merge(part.numbers, uniquingKeysWith: +)
        }
        for (store, unsorted) in byStore.sorted(by: { $0.key < $1.key }) {
            let numbers = unsorted.sorted()
            let start = starts[store] ?? 0
            let first = numbers.firstIndex { $0 >= start } ?? 0
            let named = (numbers[first...] + numbers[..<first]).prefix(limit)
            whole.purchases += try named.compactMap(purchaseName(ofStream:))
            whole.next[store] = named.last.map { $0 &+ 1 } ?? 0
        }
        return whole
    }
}

extension CustomerTimeline.OwnedPurchase {
    /// The purchase counted by itself.
    fileprivate func counts(at instant: Instant) -> PurchaseDoubts.Counts {
        let isExpected = timeline.expectsRenewal(at: instant)
        let isRunning = [.active, .grace].contains(timeline.status(at: instant))
        return PurchaseDoubts.Counts(
            renewing: isExpected || (isRunning && timeline.willRenew(at: instant) == true) ? 1 : 0,
            renewalsExpected: isExpected ? 1 : 0,
            unconfirmed: timeline.isUnconfirmed(owners) ? 1 : 0,
            unacknowledged: timeline.awaitsAcknowledgement(at: instant) ? 1 : 0
        )
    }
}
