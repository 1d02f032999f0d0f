import Encodings
package import Entitlements
package import LedgerAPI

/// An export as one page to read and to print: no script, nothing loaded, every text escaped.
package struct ExportPage: Sendable {
    /// What stands before the sections.
    package let head: String
    private var section: Section?

    /// What the page says of the whole export.
    package struct Heading: Sendable {
        /// The ledger's origin.
        package var origin: String
        /// When the export was begun.
        package var madeAt: Instant
        /// T of the state and the explanations.
        package var at: Instant
        /// R, where it was given as an instant.
        package var known: Instant?
        /// Events of the prefix that is known at R.
        package var size: UInt64
        /// The customer's environment; nil: a range, which has all.
        package var environment: StoreEnvironment?
        /// Records that are in it.
        package var records: UInt64
        /// What is hidden.
        package var redaction: ExportRedaction
        /// A signed note: every record is in its tree.
        package var checkpoint: String

        /// Makes a heading.
        package init(
            origin: String,
            madeAt: Instant,
            at: Instant,
            known: Instant?,
            size: UInt64,
            environment: StoreEnvironment?,
            records: UInt64,
            redaction: ExportRedaction,
            checkpoint: String
        ) {
            self.origin = origin
            self.madeAt = madeAt
            self.at = at
            self.known = known
            self.size = size
            self.environment = environment
            self.records = records
            self.redaction = redaction
            self.checkpoint = checkpoint
        }
    }

    /// What a section shows, a line of the export at a time.
    package enum Content: Sendable {
        case identity(ExportedIdentity)
        case state(StateAnswer)
        case explanation(ExplanationAnswer)
        case timeline(TimelineAnswer)
        case error(ExportedEvent)
        case event(ExportedEvent)
        case evidence(ExportedEvidence)
    }

    /// Begins a page.
    package init(_ heading: Heading) {
        var page = XMLText()
        page.element("h1") { $0.write("Export of the ledger \(heading.origin)") }
        page.list([
            ("made at", heading.madeAt.description), ("at", heading.at.description),
            ("as known", heading.known?.description ?? "after \(heading.size) events"),
            ("environment", heading.environment?.name ?? "all"),
            ("records", String(heading.records)),
            ("redaction", heading.redaction.rawValue),
        ])
        page.element("p") {
            $0.write("The records and the files beside this page are tied to this checkpoint: ")
            $0.element("code") { $0.write("entitle check-export") }
            $0.write(" verifies it.")
        }
        page.element("pre") { $0.write(heading.checkpoint) }
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

    /// A line's content, after the heading of its section where that begins.
    package mutating func text(_ content: Content) -> String {
        var text = ""
        if section != content.section {
            text = sectionEnd
            section = content.section
            text += content.section.start
        }
        var page = XMLText()
        switch content {
        case .identity(let identity): Self.show(identity, &page)
        case .state(let state): Self.show(state, &page)
        case .explanation(let explanation): Self.show(explanation, &page)
        case .timeline(let timeline): text += TimelineChart(timeline).svg
        case .error(let event), .event(let event): page.row(event.cells.map(Self.cell))
        case .evidence(let evidence):
            for member in evidence.exportedMembers { page.row(member.cells.map(Self.cell)) }
        }
        return text + page.text
    }

    /// What stands behind the sections.
    package var tail: String { sectionEnd + "</body></html>\n" }

    private var sectionEnd: String { section?.columns == nil ? "" : "</tbody></table>" }

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
            page.row(ExportedFeature.columns, as: "th")
            for feature in answer.exportedFeatures { page.row(feature.cells.map(cell)) }
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

/// A part of the page under a heading of its own.
private enum Section {
    case identity, state, explanations, timeline, errors, events, evidence

    private var title: String {
        switch self {
        case .identity: "Names"
        case .state: "State"
        case .timeline: "Over time"
        case .explanations: "Why"
        case .events: "Events"
        case .errors: "Errors"
        case .evidence: "Evidence"
        }
    }

    /// The columns of the table that it is; nil: it is none.
    var columns: [String]? {
        switch self {
        case .errors, .events: ExportedEvent.columns
        case .evidence: ExportedMember.columns
        case .identity, .state, .explanations, .timeline: nil
        }
    }

    /// Its heading, and the head of its table.
    var start: String {
        var heading = XMLText()
        heading.element("h2") { $0.write(title) }
        guard let columns else { return heading.text }
        var row = XMLText()
        row.row(columns, as: "th")
        return heading.text + "<table><thead>" + row.text + "</thead><tbody>"
    }
}

extension ExportPage.Content {
    fileprivate var section: Section {
        switch self {
        case .identity: .identity
        case .state: .state
        case .explanation: .explanations
        case .timeline: .timeline
        case .error: .errors
        case .event: .events
        case .evidence: .evidence
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
