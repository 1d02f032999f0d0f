import LedgerAPI
import Presentation

/// A path under which pages stand: its end may say in which form.
///
/// `/console/customers/alice.json` is the page of alice as JSON. A name that ends so by itself is
/// reached by `?format=html`.
struct PagePath {
    /// The path without its form.
    let path: String
    let format: PageFormat
    /// The language that the query chooses; nil: none of ours.
    let language: Language?

    /// Reads a path and the query behind it, as they were sent; nil: no pages stand there.
    init?(_ path: String, query: String?) {
        guard Self.places.contains(where: path.hasPrefix) else { return nil }
        let pairs = query?.split(separator: "&") ?? []
        language = Language.allCases.first { language in
            pairs.contains { $0 == "lang=" + language.rawValue }
        }
        let isExact = pairs.contains { $0 == PageFormat.exact }
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
