import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Synchronization

/// What the last look came to: how complete what is known of each store is, and what is doubtful (Z12).
final class StoreGauges: Sendable {
    private let state = Mutex(State())

    private struct State {
        var counts: [Name: PurchaseDoubts.Counts] = [:]
        var completeness: [Keyed<StatusAnswer.Completeness>] = []
    }

    func set(_ doubts: PurchaseDoubts, _ completeness: [Keyed<StatusAnswer.Completeness>]) {
        state.withLock {
            $0.counts = doubts.counts
            $0.completeness = completeness
        }
    }

    /// Appends the families; they are empty until the first look.
    func append(to text: inout PrometheusText) {
        let state = state.withLock { $0 }
        let purchases: [(word: String, count: (PurchaseDoubts.Counts) -> Int)] = [
            ("renewing", \.renewing), ("renewal_expected", \.renewalsExpected),
            ("unconfirmed", \.unconfirmed), ("unacknowledged", \.unacknowledged),
        ]
        text.family(
            "entitle_store_purchases",
            "Purchases that renew, and those of which the store has not told, by the last look.",
            .gauge
        )
        for (store, counts) in state.counts.sorted(by: { $0.key < $1.key }) {
            for (word, count) in purchases {
                text.sample(
                    "entitle_store_purchases",
                    [("store", store.text), ("state", word)],
                    UInt64(count(counts))
                )
            }
        }
        text.family(
            "entitle_source_complete_through_seconds",
            "Until when a source is known to be complete, by the last look.",
            .gauge
        )
        for source in state.completeness {
            guard let through = source.value.through else { continue }
            text.sample(
                "entitle_source_complete_through_seconds",
                [("source", source.name)],
                UInt64(max(0, through.milliseconds / 1000))
            )
        }
        text.family(
            "entitle_source_refused_seconds",
            "When signals in a source's name were refused last, by the last look.",
            .gauge
        )
        for source in state.completeness {
            guard let refused = source.value.lastRefusedAt else { continue }
            text.sample(
                "entitle_source_refused_seconds",
                [("source", source.name)],
                UInt64(max(0, refused.milliseconds / 1000))
            )
        }
    }
}
