import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Synchronization

/// What the reports that are kept summed up came to, by the last look.
///
/// Names that an app or a store made up are labels up to a limit: the most frequent stand alone,
/// the others together.
final class ReportGauges: Sendable {
    private let state = Mutex<Figures?>(nil)

    /// What is shown of the reports.
    struct Figures: Sendable {
        var customers = CustomerReport()
        var revenue: [RevenueRow] = []
        var flows: [FunnelRow] = []
        var stages: [StageRow] = []
        var errors: [ErrorRow] = []
    }

    /// Values of a label that stand alone.
    static let nameLimit = 20
    /// The label of the others together.
    static let others = "other"

    func set(_ figures: Figures) { state.withLock { $0 = figures } }

    /// Appends the families of which there are samples; none until the first look.
    func append(to text: inout PrometheusText) {
        guard let figures = state.withLock({ $0 }) else { return }
        appendCustomers(figures.customers, to: &text)
        appendMoney(figures.revenue, to: &text)
        appendFlows(figures.flows, figures.stages, to: &text)
        appendErrors(figures.errors, to: &text)
    }

    private func appendCustomers(_ report: CustomerReport, to text: inout PrometheusText) {
        guard !report.tiers.isEmpty else { return }
        text.family(
            "entitle_customers",
            "Customers by the highest tier that they have, by the last look.",
            .gauge
        )
        Self.append(
            report.tiers.map { ($0.key.text, $0.value) },
            "entitle_customers",
            "tier",
            to: &text
        )
        guard !report.statuses.isEmpty else { return }
        text.family(
            "entitle_owned_purchases",
            "Purchases that somebody owns by status, by the last look.",
            .gauge
        )
        Self.append(
            report.statuses.map { ($0.key.rawValue, $0.value.purchases) },
            "entitle_owned_purchases",
            "status",
            to: &text
        )
    }

    private func appendMoney(_ rows: [RevenueRow], to text: inout PrometheusText) {
        let name = "entitle_revenue_micros"
        guard !rows.isEmpty else { return }
        text.family(
            name,
            "Millionths of a currency's unit that were taken, and given back of these, in all.",
            .gauge
        )
        var sums: [Name: (taken: Int128, refunded: Int128)] = [:]
        for row in rows {
            let currency = Name(row.key.currencyCode ?? "none")
            var sum = sums[currency] ?? (0, 0)
            sum.taken += row.grossMicros
            sum.refunded += row.refundedByPurchaseDateMicros
            sums[currency] = sum
        }
        let ranked = sums.sorted { ($1.value.taken, $0.key) < ($0.value.taken, $1.key) }
        // Currencies are not added: those beyond the limit are left out.
        for (currency, sum) in ranked.prefix(Self.nameLimit) {
            for (word, micros) in [("taken", sum.taken), ("refunded", sum.refunded)] {
                text.sample(
                    name,
                    [("currency", currency.text), ("money", word)],
                    UInt64(clamping: micros)
                )
            }
        }
    }

    private func appendFlows(
        _ rows: [FunnelRow],
        _ stages: [StageRow],
        to text: inout PrometheusText
    ) {
        let ends: [(String, KeyPath<FunnelRow, Int>)] = [
            ("succeeded", \.succeeded), ("failed", \.failed), ("cancelled", \.cancelled),
            ("pending", \.pending), ("restored", \.restored), ("open", \.open),
        ]
        text.family("entitle_flows", "Purchase flows by their last end, by the last look.", .gauge)
        for (word, count) in ends {
            let sum = rows.reduce(0) { $0 + $1[keyPath: count] }
            text.sample("entitle_flows", [("end", word)], UInt64(clamping: sum))
        }
        let name = "entitle_stage_seconds"
        let told = stages.filter { $0.count > 0 }
        guard !told.isEmpty else { return }
        text.family(
            name,
            "How long the stages of purchase flows that are told most took, by the last look.",
            .gauge
        )
        for stage in told.sorted(by: { $0.count > $1.count }).prefix(Self.nameLimit) {
            let percentiles = [("50", stage.p50), ("95", stage.p95), ("99", stage.p99)]
            for (percentile, milliseconds) in percentiles {
                text.sample(
                    name,
                    [("stage", stage.stage), ("percentile", percentile)],
                    // Fits: a stage is no longer than its field lets it be.
                    microseconds: UInt64(clamping: milliseconds) * 1000
                )
            }
        }
    }

    private func appendErrors(_ rows: [ErrorRow], to text: inout PrometheusText) {
        let name = "entitle_reported_errors"
        if !rows.isEmpty {
            text.family(name, "Errors by who met them and their code, by the last look.", .gauge)
        }
        for origin in ErrorReport.Origin.allCases {
            let own = rows.filter { $0.origin == origin }.map { ($0.code, $0.count) }
            Self.append(own, name, "code", [("origin", origin.rawValue)], to: &text)
        }
        text.family(
            "entitle_error_alerts",
            "Codes of errors that come far more often than a while ago, by the last look.",
            .gauge
        )
        text.sample("entitle_error_alerts", [], UInt64(rows.count { $0.isAlert }))
    }

    /// Appends the most frequent of some names, and the others together.
    private static func append(
        _ counts: [(name: String, count: Int)],
        _ family: String,
        _ label: String,
        _ labels: [(String, String)] = [],
        to text: inout PrometheusText
    ) {
        let ranked = counts.sorted { ($1.count, Name($0.name)) < ($0.count, Name($1.name)) }
        var shown: [Name: Int] = [:]
        for (place, row) in ranked.enumerated() {
            shown[Name(place < nameLimit ? row.name : others), default: 0] += row.count
        }
        for (name, count) in shown.sorted(by: { $0.key < $1.key }) {
            text.sample(family, labels + [(label, name.text)], UInt64(clamping: count))
        }
    }
}
