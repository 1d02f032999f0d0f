/// The words of a product in one language: the member `texts` of a catalog's product maps language
/// tags (BCP 47) to objects such as `{"title", "description", "price"}`.
public struct ProductText: Sendable, Hashable {
    /// The tag under which the words stand.
    public let locale: String
    /// The words, as the catalog has them.
    public let words: JSONValue

    /// The language that is shown where the one asked for is not there.
    private static let fallback = "en"

    /// The words for a language: its own, else those of the longest tag that it begins with
    /// (RFC 4647, section 3.4), else English, else the first; nil where there are none.
    public init?(of product: JSONValue, for locale: String?) {
        let texts = product["texts"]?.members ?? []
        var tags: [String] = []
        var parts = (locale ?? "").split(separator: "-")
        while !parts.isEmpty {
            tags.append(parts.joined(separator: "-").lowercased())
            parts.removeLast()
        }
        tags.append(Self.fallback)
        for tag in tags {
            guard let text = texts.first(where: { $0.name.lowercased() == tag }) else { continue }
            (self.locale, words) = (text.name, text.value)
            return
        }
        guard let first = texts.first else { return nil }
        (self.locale, words) = (first.name, first.value)
    }
}
