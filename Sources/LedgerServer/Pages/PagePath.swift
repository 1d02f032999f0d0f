import Entitlements
import LedgerAPI

/// A form in which a page can be had.
enum PageFormat: String, CaseIterable, Sendable {
    /// The page.
    case html
    /// What it was made from, as one document.
    case json
    /// Its list, as a table.
    case csv
    /// Its list, one document a line.
    case ndjson
}

/// A path under which pages stand: its end may say in which form.
///
/// `/console/customers/alice.json` is the page of alice as JSON. A name that ends so by itself is
/// reached by `?format=html`.
struct PagePath {
    /// The path without its form.
    let path: String
    let format: PageFormat

    /// Reads a path and the query behind it, as they were sent; nil: no pages stand there.
    init?(_ path: String, query: String?) {
        guard Self.places.contains(where: path.hasPrefix) else { return nil }
        let isExact = query?.split(separator: "&").contains("format=html") ?? false
        let format = PageFormat.allCases.dropFirst().first { path.hasSuffix(".\($0.rawValue)") }
        guard let format, !isExact else {
            (self.path, self.format) = (path, .html)
            return
        }
        self.path = String(path.dropLast(format.rawValue.count + 1))
        self.format = format
    }

    private static let places = ["/console", "/paywall", "/history", "/account"]
}
