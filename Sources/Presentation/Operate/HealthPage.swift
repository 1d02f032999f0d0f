package import Entitlements
package import LedgerAPI

/// How the ledger is: what is to be done, what the server does by itself, how complete sources are, errors
/// and times, and room (rows 10.3 to 10.5, Z12).
package struct HealthPage: Sendable {
    /// How the ledger is, in short and in full.
    package var strip: HealthStrip
    /// What the ledger says of itself.
    package var status: StatusAnswer
    /// Errors; nil: not for whoever looks, or they could not be summed up.
    package var errors: [ErrorRow]?
    /// Stages; nil likewise.
    package var stages: [StageRow]?
    /// Where a report is; nil: it is not for whoever looks.
    package var report: @Sendable (ReportKind) -> String?
    /// Where the events of a source are.
    package var source: @Sendable (String) -> String?
    /// Where the machines of the cluster are; nil: the ledger stands on one.
    package var nodes: String?
    /// The version that runs.
    package var version: String

    /// Names what the page shows.
    package init(
        strip: HealthStrip,
        status: StatusAnswer,
        version: String,
        report: @escaping @Sendable (ReportKind) -> String?,
        source: @escaping @Sendable (String) -> String?
    ) {
        self.strip = strip
        self.status = status
        self.version = version
        self.report = report
        self.source = source
    }

    /// The title of the page.
    package static func title(in language: Language) -> String {
        PageWords.section(.health)[language]
    }

    /// Rows of a report that stand on this page.
    private static let rowLimit = 12

    private var language: Language { strip.language }

    /// Writes the page.
    package func write(to page: inout XMLText) {
        strip.write(to: &page) { _ in nil }
        page.card(HealthWords.findings[language], id: "findings") { strip.writeFindings(to: &$0) }
        page.card(HealthWords.jobs[language], id: "jobs") { writeJobs(to: &$0) }
        page.card(HealthWords.sources[language], id: "sources") { writeSources(to: &$0) }
        if let errors {
            page.card(HealthWords.errors[language], id: "errors") { write(errors, to: &$0) }
        }
        if let stages {
            page.card(HealthWords.stages[language], id: "stages") { write(stages, to: &$0) }
        }
        page.card(HealthWords.storage[language], id: "storage") { writeStorage(to: &$0) }
        if let nodes {
            page.element("p") { page in
                page.element("a", ["href": nodes]) { $0.write(NodesWords.title[language]) }
            }
        }
    }

    private func writeJobs(to page: inout XMLText) {
        page.rows(
            HealthWords.jobs[language],
            [
                HealthWords.job, HealthWords.result, HealthWords.lastRun, HealthWords.lastDone,
                HealthWords.nextRun,
            ]
            .map { PageColumn($0[language]) },
            (status.jobs ?? []).map { job in
                let result: PageCell =
                    switch job.result {
                    case .done?: .words(HealthWords.done[language]).marked(.ok)
                    case .failed?: .words(HealthWords.failed[language]).marked(.bad)
                    case nil: ""
                    }
                return [
                    .code(job.name), result, .instant(job.lastRunAt), .instant(job.lastDoneAt),
                    .instant(job.nextRunAt),
                ]
            },
            empty: HealthWords.noJobs[language]
        )
    }

    private func writeSources(to page: inout XMLText) {
        page.rows(
            HealthWords.sources[language],
            [
                PageColumn(HealthWords.source[language]), .number(HealthWords.events[language]),
                PageColumn(HealthWords.lastEvent[language]),
                PageColumn(HealthWords.complete[language]),
                PageColumn(HealthWords.lastRefused[language]),
                PageColumn(HealthWords.gaps[language]),
            ],
            status.completeness.map { entry in
                let known = entry.value
                return [
                    .code(entry.name),
                    PageCell.number(known.events).leading(to: source(entry.name)),
                    .instant(known.lastRecordedAt), .instant(known.through),
                    .instant(known.lastRefusedAt), known.gapCell,
                ]
            },
            empty: HealthWords.noSources[language]
        )
    }

    private func write(_ rows: [ErrorRow], to page: inout XMLText) {
        page.rows(
            HealthWords.errors[language],
            [
                PageColumn(HealthWords.code[language]), PageColumn(HealthWords.origin[language]),
                .number(HealthWords.count[language]), .number(HealthWords.recent[language]),
            ],
            rows.prefix(Self.rowLimit).map { row in
                let recent = PageCell.number(row.recent)
                return [
                    .code(row.code), .code(row.origin.rawValue),
                    PageCell.number(row.count).leading(to: report(.errors)),
                    row.isAlert ? recent.marked(.bad) : recent,
                ]
            },
            empty: HealthWords.noErrors[language]
        )
        writeLink(.errors, to: &page)
    }

    private func write(_ rows: [StageRow], to page: inout XMLText) {
        page.rows(
            HealthWords.stages[language],
            [
                PageColumn(HealthWords.stage[language]), .number(HealthWords.count[language]),
                .number("p50 ms"), .number("p95 ms"), .number("p99 ms"), .number("max ms"),
            ],
            rows.prefix(Self.rowLimit).map { row in
                let slow = PageCell.number(row.p95)
                return [
                    .code(row.stage), PageCell.number(row.count).leading(to: report(.stages)),
                    .number(row.p50), row.isSlow ? slow.marked(.bad) : slow, .number(row.p99),
                    .number(row.max),
                ]
            },
            empty: HealthWords.noStages[language]
        )
        writeLink(.stages, to: &page)
    }

    private func writeLink(_ kind: ReportKind, to page: inout XMLText) {
        guard let path = report(kind) else { return }
        page.element("p") { page in
            page.element("a", ["href": path]) { $0.write(HealthWords.more[language]) }
        }
    }

    private func writeStorage(to page: inout XMLText) {
        func size(_ bytes: Int64?) -> PageCell {
            .words(bytes.map { "\(NumberText.grouped(String($0 >> 10))) KiB" } ?? "")
        }
        page.pairs([
            (HealthWords.version[language], .code(version)),
            (HealthWords.events[language], .number(status.sequence)),
            (HealthWords.viewsReach[language], .number(status.views.position)),
            (HealthWords.signed[language], .number(status.checkpoint?.size)),
            (HealthWords.log[language], size(status.disk?.log)),
            (HealthWords.vault[language], size(status.disk?.vault)),
            (HealthWords.identifiers[language], size(status.disk?.identifiers)),
            (HealthWords.views[language], size(status.disk?.views)),
            (HealthWords.free[language], size(status.disk?.free)),
        ])
    }
}

extension StatusAnswer.Completeness {
    /// Why something of a store may be missing; that a store cannot be asked is no warning.
    var gapCell: PageCell {
        let words = gaps.map(\.rawValue).joined(separator: ", ")
        return gaps.isEmpty ? "" : .code(words).marked(gaps == [.cannotBeAsked] ? nil : .warn)
    }
}
