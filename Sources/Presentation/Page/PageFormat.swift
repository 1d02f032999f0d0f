/// A form in which a page can be had.
package enum PageFormat: String, CaseIterable, Sendable {
    /// The page.
    case html
    /// What it was made from, as one document.
    case json
    /// Its list, as a table.
    case csv
    /// Its list, one document a line.
    case ndjson

    /// What a query says of a path that is meant as it stands, however it ends.
    package static let exact = "format=html"

    /// Where a page is that is called by a name: one that ends as a form does is meant as it stands.
    ///
    /// `path`: encoded. `query`: its parts, encoded, without `?`.
    package static func address(_ path: String, _ query: [String]) -> String {
        let isAmbiguous = allCases.contains { path.hasSuffix("." + $0.rawValue) }
        let parts = query + (isAmbiguous ? [exact] : [])
        return path + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&"))
    }
}
