public import Entitlements
import LedgerAPI

/// A question about all customers or purchases of an environment.
public struct ReportQuestion: Sendable, Hashable {
    /// Which report.
    public var kind: ReportKind
    /// The environment that is asked about.
    public var environment: StoreEnvironment
    /// T and R.
    public var point: BitemporalPoint
    /// What is counted: purchases, refunds, flows and errors whose time lies in it; `customers`
    /// counts whoever is there at T.
    public var range = Interval(start: Instant(milliseconds: .min), end: nil)
    /// When a stage is slow; for `stages`.
    package var thresholds = StageReport.Thresholds()
    /// When errors are an alert; for `errors`.
    public var rule = AlertRule.usual

    /// Makes a question about all times; the rest is set by name.
    public init(_ kind: ReportKind, environment: StoreEnvironment, point: BitemporalPoint) {
        self.kind = kind
        self.environment = environment
        self.point = point
    }

    /// What every answer says of its question.
    func echo(size: UInt64) -> ReportEcho {
        var known: Instant?
        if case .instant(let instant) = point.knownAt { known = instant }
        return ReportEcho(
            environment: environment,
            at: point.at,
            known: known,
            sequence: size,
            from: range.start == Instant(milliseconds: .min) ? nil : range.start,
            to: range.end
        )
    }
}
