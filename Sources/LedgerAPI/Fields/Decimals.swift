import Encodings

/// Numbers with decimals, as text: exact, where a floating point number is not.
package enum Decimals {
    /// Whole units of a currency, with two decimals or as many as it takes.
    ///
    /// `digits`: millionths, of any length.
    package static func units(ofMicros digits: String) -> String {
        let isNegative = digits.hasPrefix("-")
        var padded = isNegative ? String(digits.dropFirst()) : digits
        padded = String(repeating: "0", count: max(0, 7 - padded.utf8.count)) + padded
        var decimals = String(padded.suffix(6))
        while decimals.utf8.count > 2, decimals.last == "0" { decimals.removeLast() }
        return (isNegative ? "-" : "") + padded.dropLast(6) + "." + decimals
    }
}

extension Form<String> {
    /// Digits of a number that may have decimals.
    static var decimal: Self {
        Form(
            .number,
            expected: "a number",
            write: { $1.literal($0) },
            read: { json in
                guard case .number(let digits) = json else { return nil }
                return digits
            }
        )
    }
}
