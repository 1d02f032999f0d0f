import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import Presentation

/// How the ledger is, for people: what `status` and `doctor` tell, and reports on errors and times.
extension PageTable {
    static let healthPages: [Route] = [
        .page(
            "/console/health",
            "showHealthPage",
            "What is to be done, jobs, sources, errors, times and room.",
            [.read, .support, .audit],
            health
        )
    ]

    @Sendable
    private static func health(_ call: Call, _ service: LedgerService) async throws -> Page {
        let found = try await HealthLook.look(service, for: call.caller)
        var page = HealthPage(
            strip: HealthStrip(
                language: call.language,
                findings: found.doctor.findings,
                hasDrifted: found.hasDrifted
            ),
            status: found.status,
            version: ProductVersion.current,
            report: { call.link(toReport: $0) },
            source: { call.link(["events"], [(.source, $0)]) }
        )
        if service.cluster != nil { page.nodes = call.link(["nodes"]) }
        if call.mayReport {
            let environment = try call.environment()
            let point = BitemporalPoint(at: call.now, knownAt: .everything)
            (page.errors, page.stages) = try await service.reports.make {
                let reports = service.ledger.reports
                let errors = ReportQuestion(.errors, environment: environment, point: point)
                var stages = ReportQuestion(.stages, environment: environment, point: point)
                stages.thresholds = service.stageThresholds
                return (
                    try reports.errors(errors).rows(errors.rule),
                    try reports.stageTimes(stages).rows(stages.thresholds)
                )
            }
        }
        var body = XMLText()
        page.write(to: &body)
        return Page(
            title: HealthPage.title(in: call.language),
            section: .health,
            body: body,
            json: Array(found.json.description.utf8),
            rows: Page.Rows(
                columns: Finding.columns,
                cells: found.doctor.findings.map(\.cells)
            ),
            size: found.status.sequence,
            command: "entitle doctor"
        )
    }
}

extension HealthLook.Found {
    /// `{"status","doctor","drifted"}`.
    var json: JSONValue {
        .members([
            "status": status.jsonValue, "doctor": doctor.jsonValue, "drifted": .bool(hasDrifted),
        ])
    }
}

extension Call {
    /// Whether reports are for whoever asks (Interfaces, "Who may").
    var mayReport: Bool { caller.has(anyOf: [.read, .audit]) }

    /// The page of a report; nil: it is not for whoever asks.
    func link(toReport kind: ReportKind, _ query: [(QueryName, String)] = []) -> String? {
        mayReport ? link(["reports", kind.rawValue], query) : nil
    }
}
