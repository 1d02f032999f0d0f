import Encodings
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

extension Call {
    /// What every page takes in its query.
    static let pageParameters =
        RouteTable.pointParameters.filter { $0.place == .query } + [
            Route.Parameter(
                name: "lang",
                text: "The language (default: the browser's)",
                shape: .choice(Language.allCases.map(\.rawValue))
            ),
            Route.Parameter(
                name: "format",
                text: "`html`: the page, whatever the end of its path says",
                shape: .choice(["html"])
            ),
        ]

    /// The language of the page.
    var language: Language {
        query[.lang].flatMap { Language(rawValue: $0) }
            ?? Language(acceptLanguage: headers[.acceptLanguage])
    }

    /// What was chosen, by the names of parameters.
    var chosen: [Name: String] {
        Dictionary(
            query.pairs.map { (Name($0.name), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// What the query carries from page to page; encoded, without `?`.
    ///
    /// `names`: those that are carried; a point in time is carried among pages of one customer only.
    func carried(_ names: [QueryName] = [.environment, .lang]) -> String {
        names.compactMap { name in
            query[name].map { "\(name.rawValue)=\($0.pathSegment)" }
        }.joined(separator: "&")
    }

    /// A link to another page of the console, with what the query carries.
    ///
    /// `segments`: of its path behind `/console`, not encoded.
    func link(
        _ segments: [String],
        _ query: [(QueryName, String)] = [],
        carrying names: [QueryName] = [.environment, .lang]
    ) -> String {
        let path = "/console" + segments.map { "/" + $0.pathSegment }.joined()
        let added = query.map { "\($0.0.rawValue)=\($0.1.pathSegment)" }
        let kept = names.filter { name in !query.contains { $0.0 == name } }
        var parts = added
        let carried = carried(kept)
        if !carried.isEmpty { parts.append(carried) }
        return PageFormat.address(path, parts)
    }

    /// The frame of a page for whoever is signed in.
    func frame(_ title: String, _ section: PageFrame.Section?) throws(Problem) -> PageFrame {
        var frame = PageFrame(title: title, language: language)
        frame.section = section
        frame.environment = try environment()
        frame.carried = carried()
        if let session {
            frame.viewer = PageFrame.Viewer(
                label: session.caller.label,
                formToken: session.formToken,
                sections: PageTable.sections(of: session.caller, among: pages)
            )
        }
        return frame
    }

    /// A page in the form that is asked for.
    func answer(_ page: Page, _ service: LedgerService) throws(Problem) -> Answer {
        switch format {
        case .html: return try html(page)
        case .json: return Answer(bytes: page.json, mediaType: "application/json")
        case .csv:
            guard let rows = page.rows else { throw Problem(.notFound, "this page has no list") }
            return Answer(text: rows.csv, mediaType: "text/csv; charset=utf-8")
        case .ndjson:
            guard let rows = page.rows else { throw Problem(.notFound, "this page has no list") }
            return Answer(text: rows.ndjson, mediaType: "application/x-ndjson")
        }
    }

    private func html(_ page: Page) throws(Problem) -> Answer {
        var frame = try frame(page.title, page.section)
        frame.footer.size = page.size
        frame.footer.command = page.command
        let formats = page.rows == nil ? [PageFormat.json] : [.json, .csv, .ndjson]
        for format in formats {
            frame.footer.forms.append(
                (format.rawValue.uppercased(), "\(rawPath).\(format.rawValue)\(rawQuery)")
            )
        }
        return Answer(html: frame.html { $0.append(page.body) })
    }

    /// The query as it was sent, with its question mark, but for what chose the form.
    private var rawQuery: String {
        let kept = query.pairs.filter { $0.name != QueryName.format.rawValue }
        guard !kept.isEmpty else { return "" }
        return "?" + kept.map { "\($0.name)=\($0.value.pathSegment)" }.joined(separator: "&")
    }

    // MARK: Forms

    /// What a form sent, if a page of ours that was shown to the same person made it (CSRF).
    ///
    /// A browser says from where a request comes (Fetch Metadata); the token stands for those that do not.
    func form(_ fields: [String], byteLimit: Int) throws(Problem) -> Query {
        let site = headers[.secFetchSite]
        guard site == nil || site == "same-origin" || site == "none" else {
            throw Problem(.forbidden, "the form is another site's")
        }
        guard let text = String(validating: body, as: UTF8.self) else {
            throw Problem(.malformed, "a form is UTF-8")
        }
        let form = try Query(
            text,
            known: fields + [PageFrame.formTokenName],
            isForm: true,
            valueByteLimit: byteLimit
        )
        if let session, form[PageFrame.formTokenName] != session.formToken {
            throw Problem(.forbidden, "the form is not of this session: load the page again")
        }
        return form
    }
}

extension Page.Rows {
    var csv: String {
        let lines = [columns.map(JSONValue.string)] + cells
        return lines.map(CSV.line).joined()
    }

    var ndjson: String { objects.map { $0.description + "\n" }.joined() }

    /// The rows as a document.
    var json: JSONValue { .array(objects) }

    private var objects: [JSONValue] {
        cells.map { row in .object(zip(columns, row).map { JSONMember($0, $1) }) }
    }
}
