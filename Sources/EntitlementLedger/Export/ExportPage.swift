import Encodings
import Entitlements
import EventLog
import LedgerAPI

/// An export as one page to read and to print: no script, nothing loaded, every text escaped.
struct ExportPage: Sendable {
    let head: String
    private var section: ExportPart?

    init(_ export: LedgerExport) {
        var page = XMLText()
        page.element("h1") { $0.write("Export of the ledger \(export.questions.identity.origin)") }
        let plan = export.plan
        page.list([
            ("made at", plan.madeAt.description), ("at", plan.at.description),
            ("as known", plan.known?.description ?? "after \(plan.size) events"),
            ("environment", plan.customer?.environment.name ?? "all"),
            ("records", String(export.recordCount)),
            ("redaction", plan.redaction.rawValue),
        ])
        page.element("p") {
            $0.write("The records and the files beside this page are tied to this checkpoint: ")
            $0.element("code") { $0.write("entitle check-export") }
            $0.write(" verifies it.")
        }
        page.element("pre") { $0.write(plan.checkpoint) }
        head = Self.start + page.text
    }

    private static let start =
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
        + "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        + "style-src 'unsafe-inline'\"><meta name=\"viewport\" "
        + "content=\"width=device-width\"><title>Export</title><style>\(style)</style>"
        + "</head><body>"

    private static let style = """
        :root{color-scheme:light dark}body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;\
        max-width:70em;padding:0 1em;background:#fff;color:#1b2028}table{border-collapse:collapse;\
        width:100%;margin:.5em 0 1.5em}th,td{text-align:start;vertical-align:top;padding:.25em .5em;\
        border-bottom:1px solid #d5d9e0;overflow-wrap:anywhere}pre,code{font:12px/1.4 monospace;\
        white-space:pre-wrap;overflow-wrap:anywhere}dt{float:inline-start;min-width:9em;\
        color:#5a6270}svg{max-width:100%;height:auto}h2{border-bottom:2px solid #d5d9e0}\
        @media (prefers-color-scheme:dark){body{background:#14171c;color:#e8eaee}th,td,h2\
        {border-color:#333a45}dt{color:#a3abb8}}\
        @media print{body{max-width:none;margin:0;font-size:10px}tr,li{break-inside:avoid}}
        """

    /// A line, after the heading of its section.
    mutating func text(_ part: ExportPart, _ line: ExportLine) -> String {
        var page = XMLText()
        var text = ""
        if section != part {
            text = tableEnd
            section = part
            page.element("h2") { $0.write(Self.title(part)) }
            text += page.text + tableStart
            page = XMLText()
        }
        switch line {
        case .identity(let identity): Self.show(identity, &page)
        case .state(let state): Self.show(state, &page)
        case .explanation(let explanation): Self.show(explanation, &page)
        case .timeline(let timeline): text += TimelineChart(timeline).svg
        case .event, .evidence:
            for row in Self.table(part)?.rows(of: line) ?? [] { page.row(row.map(Self.cell)) }
        case .proof, .range: break
        }
        return text + page.text
    }

    var tail: String { tableEnd + "</body></html>\n" }

    private var tableStart: String {
        guard let table = section.flatMap(Self.table) else { return "" }
        var page = XMLText()
        page.row(table.columns, as: "th")
        return "<table><thead>" + page.text + "</thead><tbody>"
    }

    private var tableEnd: String {
        section.flatMap(Self.table) == nil ? "" : "</tbody></table>"
    }

    /// The table that a section is.
    private static func table(_ part: ExportPart) -> ExportTable? {
        switch part {
        case .events: .events
        case .errors: .errors
        case .evidence: .evidence
        default: nil
        }
    }

    private static func title(_ part: ExportPart) -> String {
        switch part {
        case .identity: "Names"
        case .state: "State"
        case .timeline: "Over time"
        case .explanations: "Why"
        case .events: "Events"
        case .errors: "Errors"
        case .evidence: "Evidence"
        case .proofs, .range: "Proofs"
        }
    }

    private static func show(_ identity: ExportedIdentity, _ page: inout XMLText) {
        for (title, streams) in [("names", identity.names), ("purchases", identity.purchases)] {
            page.element("h3") { $0.write(title) }
            page.element("table") { page in
                for stream in streams { page.row([stream.name, "stream \(stream.number)"]) }
            }
        }
    }

    private static func show(_ answer: StateAnswer, _ page: inout XMLText) {
        page.list([
            ("customer", answer.question.customer ?? none), ("tier", answer.state.tier),
            ("valid until", answer.state.validUntil?.description ?? none),
        ])
        page.element("table") { page in
            page.row(ExportTable.features.columns, as: "th")
            for row in ExportTable.features.rows(of: .state(answer)) { page.row(row.map(cell)) }
        }
    }

    private static func show(_ answer: ExplanationAnswer, _ page: inout XMLText) {
        page.element("h3") { $0.write(answer.feature) }
        page.element("p") { $0.write(answer.summary) }
        page.element("ol") { page in
            for step in answer.steps { page.element("li") { $0.write(step.text) } }
        }
    }

    /// What stands where there is nothing.
    private static let none = "–"

    /// A cell as text for people.
    private static func cell(_ value: JSONValue) -> String {
        value.isNull ? none : value.string ?? value.description
    }
}

extension XMLText {
    fileprivate mutating func row(_ cells: [String], as name: String = "td") {
        element("tr") { page in
            for cell in cells { page.element(name) { $0.write(cell) } }
        }
    }

    fileprivate mutating func list(_ entries: [(String, String)]) {
        element("dl") { page in
            for (name, value) in entries {
                page.element("dt") { $0.write(name) }
                page.element("dd") { $0.write(value) }
            }
        }
    }
}
