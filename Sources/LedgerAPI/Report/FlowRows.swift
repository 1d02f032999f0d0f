import Encodings
public import Entitlements

/// Purchase flows of one product and platform by their last end (row 10.1).
public struct FunnelRow: ReportRow {
    /// The product id; nil: no statement says it.
    public var productID: String?
    /// The platform, as the app calls it; nil: no statement says it.
    public var platform: String?
    /// All flows, each once, by its earliest statement.
    public var started: Int
    /// Those that ended with a purchase.
    public var succeeded: Int
    /// Those that failed.
    public var failed: Int
    /// Those that the customer broke off.
    public var cancelled: Int
    /// Those that wait for somebody's leave.
    public var pending: Int
    /// Those that found what was bought before.
    public var restored: Int
    /// Those without an end so far.
    public var open: Int
    /// The share that succeeded.
    public var conversion: Double?

    /// The report whose row this is.
    package static var kind: ReportKind { .funnel }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("FunnelRow", "Purchase flows by their last end", Self.init) {
        Field("productId", \.productID, .orNull(.name))
        Field("platform", \.platform, .orNull(.name))
        Field("started", \.started, .count, "Flows, each once, by its earliest statement")
        Field("succeeded", \.succeeded, .count)
        Field("failed", \.failed, .count)
        Field("cancelled", \.cancelled, .count)
        Field("pending", \.pending, .count)
        Field("restored", \.restored, .count)
        Field("open", \.open, .count, "Flows without an end so far")
        Field("conversion", \.conversion, .decimal, "succeeded of started")
    }
}

extension FunnelReport {
    /// A row for each product and platform, those with most flows first.
    package var rows: [FunnelRow] {
        let ranked = lines.sorted { left, right in
            left.value.flows != right.value.flows
                ? left.value.flows > right.value.flows : left.key.order < right.key.order
        }
        return ranked.map { key, line in
            func count(_ end: EventKind) -> Int { line.ends[end] ?? 0 }
            let succeeded = count(.flowSucceeded)
            return FunnelRow(
                productID: key.productID,
                platform: key.platform,
                started: line.flows,
                succeeded: succeeded,
                failed: count(.flowFailed),
                cancelled: count(.flowCancelled),
                pending: count(.flowPending),
                restored: count(.flowRestored),
                open: line.flows - line.ends.values.reduce(0, +),
                conversion: Proportion(successes: succeeded, trials: line.flows).rate
            )
        }
    }
}

extension FunnelReport.Key {
    fileprivate var order: (Name, Name) { (Name(productID ?? ""), Name(platform ?? "")) }
}

/// How long one stage of purchase flows took, in milliseconds (row 10.3); percentiles by the nearest
/// rank.
public struct StageRow: ReportRow, Alarming {
    /// The stage.
    public var stage: String
    /// How often it was measured.
    public var count: Int
    /// The median.
    public var p50: Int64
    /// The 95th percentile.
    public var p95: Int64
    /// The 99th percentile.
    public var p99: Int64
    /// The longest.
    public var max: Int64
    /// What the 95th percentile may be.
    public var threshold: Int64
    /// How many took longer than that.
    public var overThreshold: Int
    /// Whether the 95th percentile lies above it (row 10.4).
    public var isSlow: Bool

    /// The report whose row this is.
    package static var kind: ReportKind { .stages }
    /// A slow stage raises an alert.
    package var isAlarming: Bool { isSlow }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "StageRow",
        "How long the stages of purchase flows took: milliseconds, percentiles by the nearest rank",
        Self.init
    ) {
        Field("stage", \.stage, .name)
        Field("count", \.count, .count)
        Field("p50", \.p50, .count)
        Field("p95", \.p95, .count)
        Field("p99", \.p99, .count)
        Field("max", \.max, .count)
        Field("threshold", \.threshold, .count, "Milliseconds that p95 may take")
        Field("overThreshold", \.overThreshold, .count, "How many took longer")
        Field("isSlow", \.isSlow, .boolean)
    }
}

extension StageReport {
    /// A row for each stage, the most frequent first.
    package func rows(_ thresholds: Thresholds) -> [StageRow] {
        let measured = stages.map { (name: $0.key, times: Percentiles($0.value)) }
            .sorted { left, right in
                left.times.count != right.times.count
                    ? left.times.count > right.times.count : left.name < right.name
            }
        return measured.map { name, times in
            let threshold = thresholds.milliseconds(of: name.text)
            return StageRow(
                stage: name.text,
                count: times.count,
                p50: times[50],
                p95: times[95],
                p99: times[99],
                max: times[100],
                threshold: threshold,
                overThreshold: times.count(above: threshold),
                isSlow: times[95] > threshold
            )
        }
    }
}

/// Errors of one code (row 10.5).
public struct ErrorRow: ReportRow, Alarming {
    /// Who met them.
    public var origin: ErrorReport.Origin
    /// Their code.
    public var code: String
    /// How many there were.
    public var count: Int
    /// Their share of the flows that ended; nil: of other origins.
    public var share: Double?
    /// How many there were in the last window.
    public var recent: Int
    /// What the windows before it would lead to expect.
    public var expected: Double?
    /// Standard deviations above that; nil: there were none.
    public var score: Double?
    /// Whether they come far more often than a while ago.
    public var isAlert: Bool

    /// The report whose row this is.
    package static var kind: ReportKind { .errors }
    /// Whether they come far more often than a while ago.
    package var isAlarming: Bool { isAlert }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ErrorRow", "Errors by code", Self.init) {
        Field(
            "origin",
            \.origin,
            .word,
            "flow.failed, failure.recorded, or a signal that failed verification"
        )
        Field("code", \.code, .name)
        Field("count", \.count, .count)
        Field("share", \.share, .decimal, "Of the flows that ended; null for other origins")
        Field("recent", \.recent, .count, "In the last window before `at`")
        Field(
            "expected",
            \.expected,
            .decimal,
            "What the windows before it would lead to expect"
        )
        Field("score", \.score, .decimal, "Standard deviations above that")
        Field("isAlert", \.isAlert, .boolean)
    }
}

extension ErrorReport {
    /// A row for each code, the most frequent first.
    package func rows(_ rule: AlertRule) -> [ErrorRow] {
        let counted = errors.filter { $0.value != Counts() }.sorted { left, right in
            left.value.inRange != right.value.inRange
                ? left.value.inRange > right.value.inRange
                : (left.key.origin.rawValue, Name(left.key.code))
                    < (right.key.origin.rawValue, Name(right.key.code))
        }
        return counted.map { key, counts in
            let attempts = key.origin == .flow ? self.attempts : nil
            let verdict = rule.verdict(
                window: counts.inWindow,
                baseline: counts.inBaseline,
                attempts: attempts.map { ($0.inWindow, $0.inBaseline) }
            )
            return ErrorRow(
                origin: key.origin,
                code: key.code,
                count: counts.inRange,
                share: attempts.flatMap {
                    Proportion(successes: counts.inRange, trials: $0.inRange).rate
                },
                recent: counts.inWindow,
                expected: verdict.expected,
                score: counts.inWindow + counts.inBaseline == 0 ? nil : verdict.score,
                isAlert: verdict.isAlert
            )
        }
    }
}
