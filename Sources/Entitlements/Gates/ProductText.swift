package import Encodings

/// The words of a product in one language: the member `texts` of a catalog's product maps language
/// tags (BCP 47) to objects such as `{"title", "description", "price"}`.
package struct ProductText: Sendable, Hashable {
    /// The tag under which the words stand.
    package let locale: String
    /// The words, as the catalog has them.
    package let words: JSONValue

    /// The language that is shown where the one asked for is not there.
    private static let fallback = "en"

    /// The words for a language: its own, else those of the longest tag that it begins with
    /// (RFC 4647, section 3.4), else English, else the first; nil where there are none.
    ///
    /// Cost: linear in the words' tags and in the tag's length times its subtags, at most
    /// ``LanguageTag/byteLimit``.
    package init?(of product: JSONValue, for tag: LanguageTag?) {
        let texts = product["texts"]?.members ?? []
        guard let first = texts.first else { return nil }
        var places: [Name: Int] = [:]
        for (place, text) in texts.enumerated() where text.name.utf8.count <= LanguageTag.byteLimit
        {
            let name = Name(text.name.lowercased())
            if places[name] == nil { places[name] = place }
        }
        let tags = (tag?.ranges ?? []) + [Self.fallback]
        let text = tags.lazy.compactMap { places[$0] }.first.map { texts[$0] } ?? first
        (locale, words) = (text.name, text.value)
    }

    /// Languages in which the titles of one product are read.
    private static let titleLimit = 200

    /// The titles of a product by language tag in lower case; what is no title on one line is passed
    /// over, since words only serve to be shown.
    static func titles(of product: JSONValue) -> [Name: String] {
        var titles: [Name: String] = [:]
        for text in (product["texts"]?.members ?? []).prefix(titleLimit)
        where text.name.utf8.count <= LanguageTag.byteLimit {
            let tag = Name(text.name.lowercased())
            guard titles[tag] == nil, let title = text.value["title"]?.string,
                Identifier.isValid(title)
            else { continue }
            titles[tag] = title
        }
        return titles
    }

    /// Its title in a language, in what its tag begins with, or in English; nil: in none of them.
    fileprivate static func title(in titles: [Name: String], _ tag: LanguageTag?) -> String? {
        ((tag?.ranges ?? []) + [fallback]).lazy.compactMap { titles[$0] }.first
    }
}

extension Catalog.Product {
    /// What people call it in a language, else in English; nil: the catalog has no title in either.
    package func title(in tag: LanguageTag?) -> String? { ProductText.title(in: titles, tag) }
}

/// A language tag as somebody asks for it (BCP 47): letters and digits, in parts joined by hyphens.
package struct LanguageTag: Sendable, Hashable {
    /// Bytes of a tag; the longest that are in use have 35 (RFC 5646, section 4.4.1).
    package static let byteLimit = 64

    /// In lower case.
    package let text: String

    /// Checks a tag; nil for what is none.
    package init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.byteLimit,
            parts.allSatisfy({ part in
                !part.isEmpty
                    && part.allSatisfy {
                        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0)
                            || (0x61...0x7A).contains($0)
                    }
            })
        else { return nil }
        self.text = text.lowercased()
    }

    /// The tag, and what it begins with, the longest first.
    var ranges: [String] {
        var ranges = [text]
        while let hyphen = ranges[ranges.count - 1].lastIndex(of: "-") {
            ranges.append(String(ranges[ranges.count - 1][..<hyphen]))
        }
        return ranges
    }
}
