import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Presentation

/// Whether all is well, at one look (row 10.6).
extension PageTable {
    static let overviewPages: [Route] = [
        .page(
            "/console",
            "showOverviewPage",
            "How the ledger is, figures of the business, and the latest events.",
            [.read, .support, .audit],
            overview
        )
    ]

    /// Events of the page.
    private static let latestLimit = 20
    private static let hourCount = 24
    private static let hour: Int64 = 3_600_000

    @Sendable
    private static func overview(_ call: Call, _ service: LedgerService) async throws -> Page {
        let found = try await HealthLook.look(service, for: call.caller)
        let environment = try call.environment()
        let (rate, latest) = try await lately(environment, call, service)
        var list = EventListPage(
            language: call.language,
            events: latest?.events ?? [],
            chosen: [:],
            path: { call.link(toEvent: $0.event.sequence) },
            subject: { call.link(toSubjectOf: $0) }
        )
        if latest != nil { list.stream = call.link(["events", "stream"]) }
        var page = OverviewPage(
            strip: HealthStrip(
                language: call.language,
                findings: found.doctor.findings,
                hasDrifted: found.hasDrifted
            ),
            rate: OverviewPage.rateChart(
                from: rate.start,
                hours: rate.counts,
                isWhole: rate.isWhole,
                call.language
            ),
            latest: list,
            area: { call.link(toArea: $0) },
            report: { call.link(toReport: $0) }
        )
        var figures: [JSONMember] = []
        if call.mayReport {
            let (customers, revenue) = try await sums(environment, call.now, service)
            page.customers = customers
            let totals = RevenueRow.totals(of: revenue)
            page.revenue = totals.sorted { $0.grossMicros > $1.grossMicros }
            page.months = revenue
            figures = [
                JSONMember("customers", customers.jsonValue),
                JSONMember("revenue", .array(totals.map(\.jsonValue))),
            ]
        }
        var body = XMLText()
        page.write(to: &body)
        let events = (latest?.events ?? []).map(\.event.jsonValue)
        return Page(
            title: OverviewPage.title(in: call.language),
            section: .overview,
            body: body,
            json: Array(
                JSONValue.object(
                    (found.json.members ?? []) + figures + [JSONMember("events", .array(events))]
                )
                .description.utf8
            ),
            size: found.status.sequence,
            command: "entitle status"
        )
    }

    /// When events were recorded lately, and the newest of them; nil: not for whoever asks.
    private static func lately(
        _ environment: StoreEnvironment,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> (EventRate, LatestEvents?) {
        try await service.blocking {
            let questions = service.ledger.questions
            var filter = EventFilter(sequences: 0..<UInt64.max)
            filter.environment = environment
            // What support sees of somebody is noted with that customer.
            let latest =
                call.mayReport
                ? try questions.latest(filter, for: call.readerOfAll, limit: latestLimit) : nil
            let rate = try questions.recordedRate(
                in: environment,
                before: call.now.advanced(byMilliseconds: 1),
                stretches: hourCount,
                of: hour
            )
            return (rate, latest)
        }
    }

    /// Customers and all rows of the revenue now, of an environment.
    private static func sums(
        _ environment: StoreEnvironment,
        _ now: Instant,
        _ service: LedgerService
    ) async throws -> (CustomersAnswer, [RevenueRow]) {
        let point = BitemporalPoint(at: now, knownAt: .everything)
        return try await service.reports.make { [reports = service.ledger.reports] in
            func question(_ kind: ReportKind) -> ReportQuestion {
                ReportQuestion(kind, environment: environment, point: point)
            }
            guard case .customers(let customers) = try reports.report(question(.customers))
            else { preconditionFailure("a report is of the kind that was asked for") }
            return (customers, try reports.revenue(question(.revenue)).rows)
        }
    }
}

extension Call {
    /// Where an area of the health is told of; nil: nowhere for whoever asks.
    fileprivate func link(toArea area: HealthArea) -> String? {
        switch area {
        case .audits: caller.has(.audit) ? link(["audit"]) : link(["health"])
        case .deliveries: caller.has(.admin) ? link(["deliveries"]) : link(["health"])
        case .readiness, .stores, .drift, .disk, .jobs, .copies: link(["health"])
        }
    }
}
