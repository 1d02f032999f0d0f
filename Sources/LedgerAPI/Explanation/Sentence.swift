/// A sentence in each language, with places such as `{what}`.
typealias Sentence = ServiceErrorMessages.Texts

extension Sentence {
    /// The sentence in a language, its places filled in one pass: what stands in a name is never
    /// taken for a place.
    func filled(_ language: Language, _ values: [String: String]) -> String {
        let template = self[language]
        var text = ""
        var rest = template.utf8[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")),
            let close = rest[open...].firstIndex(of: UInt8(ascii: "}"))
        {
            text += Substring(rest[..<open])
            text += values[String(Substring(rest[open..<close].dropFirst()))] ?? ""
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
