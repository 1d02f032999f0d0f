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
    mutating func text(_ part: ExportPart, _ line: JSONValue) throws -> String {
        var page = XMLText()
        var text = ""
        if section != part {
            text = tableEnd
            section = part
            page.element("h2") { $0.write(Self.title(part)) }
            text += page.text + tableStart
            page = XMLText()
        }
        switch part {
        case .identity: Self.identity(line, &page)
        case .state: Self.state(line, &page)
        case .explanations: Self.explanation(line, &page)
        case .timeline: text += TimelineChart(try TimelineAnswer.fields.read(line)).svg
        case .events, .errors, .evidence: page.row(Self.columns(part).map { line.cell($0) })
        case .proofs, .range: break
        }
        return text + page.text
    }

    var tail: String { tableEnd + "</body></html>\n" }

    private var isTable: Bool { section.map { !Self.columns($0).isEmpty } ?? false }

    private var tableStart: String {
        guard let section, isTable else { return "" }
        var page = XMLText()
        page.row(Self.columns(section), as: "th")
        return "<table><thead>" + page.text + "</thead><tbody>"
    }

    private var tableEnd: String { isTable ? "</tbody></table>" : "" }

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

    private static func columns(_ part: ExportPart) -> [String] {
        switch part {
        case .events, .errors:
            ["sequence", "recordedtime", "time", "type", "subject", "source", "data"]
        case .evidence: ["sequence", "digest", "content"]
        default: []
        }
    }

    private static func identity(_ line: JSONValue, _ page: inout XMLText) {
        for member in ["names", "purchases"] {
            page.element("h3") { $0.write(member) }
            page.element("table") { page in
                for entry in line[member]?.array ?? [] {
                    page.row([entry.cell("name"), "stream " + entry.cell("stream")])
                }
            }
        }
    }

    private static func state(_ line: JSONValue, _ page: inout XMLText) {
        page.list([
            ("customer", line.cell("customer")), ("tier", line.cell("tier")),
            ("valid until", line.cell("validUntil")),
        ])
        let columns = ["allowed", "until", "reason", "sources"]
        page.element("table") { page in
            page.row(["feature"] + columns, as: "th")
            for feature in line["features"]?.members ?? [] {
                page.row([feature.name] + columns.map { feature.value.cell($0) })
            }
        }
    }

    private static func explanation(_ line: JSONValue, _ page: inout XMLText) {
        page.element("h3") { $0.write(line.cell("feature")) }
        page.element("p") { $0.write(line.cell("summary")) }
        page.element("ol") { page in
            for step in line["steps"]?.array ?? [] {
                page.element("li") { $0.write(step.cell("text")) }
            }
        }
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

extension JSONValue {
    /// A member as text for people.
    fileprivate func cell(_ name: String) -> String {
        guard let value = self[name], !value.isNull else { return "–" }
        return value.string ?? value.description
    }
}
