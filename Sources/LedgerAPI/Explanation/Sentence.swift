/// A sentence or word in each language, with places such as `{what}`.
package struct Sentence: Sendable {
    private let english: String
    private let japanese: String
    private let traditionalChinese: String

    /// A sentence in English, Japanese and traditional Chinese.
    package init(_ english: String, _ japanese: String, _ traditionalChinese: String) {
        self.english = english
        self.japanese = japanese
        self.traditionalChinese = traditionalChinese
    }

    /// The sentence in a language, its places as they stand.
    package subscript(language: Language) -> String {
        switch language {
        case .english: english
        case .japanese: japanese
        case .traditionalChinese: traditionalChinese
        }
    }

    /// The sentence of a count, which is its only place; `one`: that of a single thing.
    package func counting(
        _ count: some BinaryInteger,
        one: Sentence,
        in language: Language
    ) -> String {
        count == 1 ? one[language] : filled(language) { _ in String(count) }
    }

    /// Room for the values of most sentences.
    private static let valueByteCount = 96

    /// The sentence in a language, its places filled in one pass: what stands in a name is never
    /// taken for a place.
    ///
    /// `value`: what stands at a place, asked once for each; nil: nothing.
    package func filled(
        _ language: Language,
        _ value: (_ place: String) throws -> String?
    ) rethrows -> String {
        let template = self[language]
        var text = ""
        text.reserveCapacity(template.utf8.count + Self.valueByteCount)
        var rest = template.utf8[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")),
            let close = rest[open...].firstIndex(of: UInt8(ascii: "}"))
        {
            text += Substring(rest[..<open])
            text += try value(String(Substring(rest[open..<close].dropFirst()))) ?? ""
            rest = rest[close...].dropFirst()
        }
        text += Substring(rest)
        // A full-width bracket has room of its own.
        if language == .traditionalChinese { text = text.replacing("） ", with: "）") }
        // A noun of ours may begin an English sentence.
        guard language == .english, template.hasPrefix("{what}"), let first = text.first else {
            return text
        }
        return first.uppercased() + text.dropFirst()
    }
}
