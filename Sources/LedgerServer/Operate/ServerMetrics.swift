import Encodings
import Entitlements
import LedgerAPI
import Presentation
import Stores
import Synchronization

/// What the server counts.
///
/// Labels are words of closed sets: no id, no path, no customer.
final class ServerMetrics: Sendable {
    private let state: Mutex<State>
    /// What drift checks came to.
    let drift = DriftCounters()
    /// What is known of the stores' signals.
    let stores = StoreGauges()
    /// What the reports that are kept summed up came to.
    let reports = ReportGauges()
    /// What became of deliveries to webhooks.
    let webhooks = WebhookCounters()
    /// What audits came to.
    let audits = AuditCounters()
    /// Spans that wait to be sent, and what became of the others.
    let spans = SpanQueue()

    private struct State {
        /// By the routes' numbers; the last is that of requests that lead nowhere.
        var operations: [Operation]
        var signals: [StoreKey: UInt64] = [:]
        var storeFaults: [StoreKey: UInt64] = [:]
        var refusedCredentials: [AuthenticationRefusal: UInt64] = [:]
    }

    private struct StoreKey: Hashable {
        var store: String
        var word: String
    }

    private struct Operation {
        let name: String
        var statuses: [(status: Int, count: UInt64)] = []
        var buckets = [UInt64](repeating: 0, count: ServerMetrics.bounds.count + 1)
        var microseconds: UInt64 = 0

        init(_ name: String) { self.name = name }

        /// A route has a handful of statuses: a walk is cheaper than a hash.
        mutating func count(_ status: Int) {
            if let index = statuses.firstIndex(where: { $0.status == status }) {
                statuses[index].count += 1
            } else {
                statuses.append((status, 1))
            }
        }
    }

    /// Upper bounds of the duration histogram, in microseconds.
    fileprivate static let bounds: [Int64] = [
        250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000,
        5_000_000,
    ]

    /// What becomes of signals that hold.
    private static let takenOutcomes: Set<Name> = ["appended", "duplicate", "known"]

    private let clock: @Sendable () -> Instant

    /// Counts for routes by their numbers.
    init(operations: [String], clock: @escaping @Sendable () -> Instant) {
        self.clock = clock
        state = Mutex(State(operations: (operations + ["none"]).map { Operation($0) }))
    }

    /// Counts an answered request.
    ///
    /// `number`: the route's; nil: it led nowhere.
    func count(_ number: Int?, status: Int, duration: Duration) {
        let microseconds = duration.microseconds
        let bucket = Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bounds.count
        state.withLock { state in
            let number = number ?? state.operations.count - 1
            state.operations[number].count(status)
            state.operations[number].buckets[bucket] += 1
            state.operations[number].microseconds += UInt64(max(0, microseconds))
        }
    }

    /// Counts a store's signal.
    ///
    /// `outcome`: `appended`, `duplicate`, `known` or the code of a refusal.
    func countSignal(_ store: String, outcome: String) {
        if Self.takenOutcomes.contains(Name(outcome)) { stores.note([Name(store): clock()]) }
        state.withLock {
            $0.signals[StoreKey(store: store, word: outcome), default: 0] += 1
        }
    }

    /// Signals of stores by what became of them.
    var signalCounts: [DeliveriesPage.Signals] {
        let signals = state.withLock { $0.signals }
        return signals.sorted { ($0.key.store, $0.key.word) < ($1.key.store, $1.key.word) }.map {
            DeliveriesPage.Signals(store: $0.store, outcome: $0.word, count: $1)
        }
    }

    /// Counts a question to a store that was not answered.
    func countFault(_ fault: StoreFault, of store: String) {
        state.withLock {
            $0.storeFaults[StoreKey(store: store, word: fault.code.rawValue), default: 0] += 1
        }
    }

    /// Counts a credential that did not count.
    func countRefusedCredential(_ reason: AuthenticationRefusal) {
        state.withLock { $0.refusedCredentials[reason, default: 0] += 1 }
    }

    private static func append(
        _ counts: [StoreKey: UInt64],
        _ name: String,
        _ label: String,
        to text: inout PrometheusText
    ) {
        let rows = counts.sorted { ($0.key.store, $0.key.word) < ($1.key.store, $1.key.word) }
        for (key, count) in rows {
            text.sample(name, [("store", key.store), (label, key.word)], count)
        }
    }

    /// The metrics in Prometheus' text format.
    func text(_ standing: Standing, _ jobs: JobBoard, _ alerts: AlertBoard) -> String {
        let (operations, signals, storeFaults, refused) = state.withLock {
            ($0.operations, $0.signals, $0.storeFaults, $0.refusedCredentials)
        }
        var text = PrometheusText()
        text.family("entitle_build_info", "The version that runs.", .gauge)
        text.sample("entitle_build_info", [("version", ProductVersion.current)], 1)
        standing.append(to: &text)
        text.family("entitle_signals_total", "Signals of stores by what became of them.", .counter)
        Self.append(signals, "entitle_signals_total", "outcome", to: &text)
        text.family(
            "entitle_store_faults_total",
            "Questions to stores that were not answered, by reason.",
            .counter
        )
        Self.append(storeFaults, "entitle_store_faults_total", "code", to: &text)
        text.family(
            "entitle_refused_credentials_total",
            "Keys and tokens that did not count, by reason.",
            .counter
        )
        for (reason, count) in refused.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            text.sample(
                "entitle_refused_credentials_total",
                [("reason", reason.rawValue)],
                count
            )
        }
        drift.append(to: &text)
        stores.append(to: &text)
        reports.append(to: &text)
        audits.append(to: &text)
        webhooks.append(to: &text)
        jobs.append(to: &text)
        alerts.append(to: &text)
        spans.append(to: &text)
        let rows = operations.filter { !$0.statuses.isEmpty }.sorted { $0.name < $1.name }
        text.family("entitle_requests_total", "Requests by operation and status.", .counter)
        for operation in rows {
            for (status, count) in operation.statuses.sorted(by: { $0.status < $1.status }) {
                text.sample(
                    "entitle_requests_total",
                    [("operation", operation.name), ("status", String(status))],
                    count
                )
            }
        }
        text.family(
            "entitle_request_duration_seconds",
            "From the request's head to its answer.",
            .histogram
        )
        for operation in rows {
            text.histogram(
                "entitle_request_duration_seconds",
                [("operation", operation.name)],
                bounds: Self.bounds,
                counts: operation.buckets,
                sum: operation.microseconds
            )
        }
        return text.text
    }
}

/// Prometheus' text format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats).
struct PrometheusText {
    /// The type without which a scrape fails.
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    enum Kind: String { case counter, gauge, histogram }

    private(set) var text = ""

    mutating func family(_ name: String, _ help: String, _ kind: Kind) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func sample(_ name: String, _ labels: [(String, String)], _ value: UInt64) {
        sample(name, labels, String(value))
    }

    /// A length that is counted in microseconds, shown in seconds.
    mutating func sample(
        _ name: String,
        _ labels: [(String, String)],
        microseconds: UInt64
    ) {
        sample(name, labels, Self.seconds(microseconds))
    }

    /// A histogram whose bounds and sum are counted in microseconds, shown in seconds.
    mutating func histogram(
        _ name: String,
        _ labels: [(String, String)],
        bounds: [Int64],
        counts: [UInt64],
        sum: UInt64
    ) {
        var total: UInt64 = 0
        for (bound, count) in zip(bounds.map { Self.seconds(UInt64($0)) } + ["+Inf"], counts) {
            total += count
            sample(name + "_bucket", labels + [("le", bound)], total)
        }
        sample(name + "_sum", labels, Self.seconds(sum))
        sample(name + "_count", labels, total)
    }

    private mutating func sample(_ name: String, _ labels: [(String, String)], _ value: String) {
        text += name
        if !labels.isEmpty {
            text +=
                "{" + labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    private static func escaped(_ value: String) -> String {
        // By scalars: a mark that combines with a quotation mark hides it from none who reads bytes.
        value.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    /// Seconds from microseconds, exactly.
    private static func seconds(_ microseconds: UInt64) -> String {
        let rest = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000)."
            + String(repeating: "0", count: 6 - rest.utf8.count) + rest
    }
}
