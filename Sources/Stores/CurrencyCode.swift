/// The code of a currency (ISO 4217).
enum CurrencyCode {
    /// A text of three capital letters; nil for any other.
    static func of(_ text: String?) -> String? {
        guard let text, text.utf8.count == 3,
            text.utf8.allSatisfy({ (0x41...0x5A).contains($0) })
        else { return nil }
        return text
    }
}
