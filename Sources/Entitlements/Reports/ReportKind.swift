/// The reports that there are (rows 10.1 to 10.6, B7).
public enum ReportKind: String, CaseIterable, Sendable {
    case customers, revenue, refunds, funnel, stages, errors, experiments
}
