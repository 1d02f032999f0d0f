package import Encodings
import Entitlements
package import LedgerAPI

/// Written answers as a reader of their text sees them.
extension Written {
    /// The text, read.
    package var json: JSONValue { text.json }

    /// A member of the text.
    package subscript(_ name: String) -> JSONValue? { json[name] }
}

extension AnswerText {
    /// The text, read; null where it is no JSON.
    package var json: JSONValue { (try? JSONValue(parsing: bytes)) ?? .null }
}
