package import Encodings

/// Comma-separated values (RFC 4180) that are safe to open in a spreadsheet.
package enum CSV {
    /// One record with its end; null is an empty cell.
    ///
    /// Text that a spreadsheet would take for a formula gets an apostrophe before it: apps and
    /// customers choose some of these texts.
    package static func line(_ cells: [JSONValue]) -> String {
        cells.map(cell).joined(separator: ",") + "\r\n"
    }

    private static func cell(_ value: JSONValue) -> String {
        guard case .string(var text) = value else {
            return value.isNull ? "" : value.description
        }
        if let first = text.unicodeScalars.first, formulaMarks.contains(first) {
            text = "'" + text
        }
        guard text.unicodeScalars.contains(where: { ",\"\r\n".unicodeScalars.contains($0) })
        else { return text }
        // By scalars: CR LF is one character.
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" { quoted += "\"" }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    /// What a formula begins with (OWASP, CSV injection), full-width forms included.
    private static let formulaMarks = "=+-@\t\r\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".unicodeScalars
}
