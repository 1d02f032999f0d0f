import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Synchronization

/// What the last look came to: how complete what is known of each store is, and what is doubtful (Z12).
final class StoreGauges: Sendable {
    private let state = Mutex(State())

    fileprivate struct State {
        var counts: [Name: PurchaseDoubts.Counts] = [:]
        var completeness: [Keyed<StatusAnswer.Completeness>] = []
        var signals: [Name: Instant] = [:]
    }

    func set(_ doubts: PurchaseDoubts, _ completeness: [Keyed<StatusAnswer.Completeness>]) {
        state.withLock {
            $0.counts = doubts.counts
            $0.completeness = completeness
        }
    }

    /// Forgets what the last look came to: another machine of the cluster looks.
    func forgetLook() { state.withLock { ($0.counts, $0.completeness) = ([:], []) } }

    /// Notes when something of stores was recorded; what came later stays.
    func note(_ signals: [Name: Instant]) {
        state.withLock { $0.signals.merge(signals) { max($0, $1) } }
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
            "entitle_last_signal_seconds",
            "When something of a store that holds came last.",
            .gauge
        )
        for (store, instant) in state.signals.sorted(by: { $0.key < $1.key }) {
            text.sample(
                "entitle_last_signal_seconds",
                [("store", store.text)],
                instant.wholeSeconds
            )
        }
        state.append(
            "entitle_source_complete_through_seconds",
            "Until when a source is known to be complete, by the last look.",
            \.through,
            to: &text
        )
        state.append(
            "entitle_source_refused_seconds",
            "When signals in a source's name were refused last, by the last look.",
            \.lastRefusedAt,
            to: &text
        )
    }
}

extension StoreGauges.State {
    /// An instant of each source that has one, in seconds since 1970.
    fileprivate func append(
        _ name: String,
        _ help: String,
        _ instant: (StatusAnswer.Completeness) -> Instant?,
        to text: inout PrometheusText
    ) {
        text.family(name, help, .gauge)
        for source in completeness {
            guard let instant = instant(source.value) else { continue }
            text.sample(name, [("source", source.name)], instant.wholeSeconds)
        }
    }
}
