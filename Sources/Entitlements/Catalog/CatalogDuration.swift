import Encodings

/// How long a product lasts whose store states no end (P2): `P30D`, `P2W`, `P6M`, `P1Y`.
package enum CatalogDuration: Sendable, Hashable {
    /// Of 86 400 000 ms.
    case days(Int64)
    /// Of the calendar in UTC.
    case months(Int64)

    /// Reads a duration; nil: it is none that K10 lets pass.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let digits = bytes.dropFirst().dropLast()
        guard bytes.first == UInt8(ascii: "P"), let unit = bytes.last.flatMap({ Self.units[$0] }),
            (1...5).contains(digits.count), digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        let count = digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        guard count <= unit.limit else { return nil }
        self = unit.isOfDays ? .days(count * unit.size) : .months(count * unit.size)
    }

    /// What a duration is counted in; `limit`: counts beyond it are refused.
    private static let units: [UInt8: (isOfDays: Bool, size: Int64, limit: Int64)] = [
        UInt8(ascii: "D"): (true, 1, 36_500), UInt8(ascii: "W"): (true, 7, 5200),
        UInt8(ascii: "M"): (false, 1, 1200), UInt8(ascii: "Y"): (false, 12, 100),
    ]

    /// Texts that `init` takes, for schemas.
    package static let pattern =
        "^P(?:(?:[1-9][0-9]{0,3}|[12][0-9]{4}|3[0-5][0-9]{3}|36[0-4][0-9]{2}|36500)D"
        + "|(?:[1-9][0-9]{0,2}|[1-4][0-9]{3}|5[01][0-9]{2}|5200)W"
        + "|(?:[1-9][0-9]{0,2}|1[01][0-9]{2}|1200)M|(?:[1-9][0-9]?|100)Y)$"

    /// The end of what starts at an instant; a day that the last month does not have is its last.
    func end(from start: Instant) -> Instant {
        switch self {
        case .days(let count):
            // Fits: a hundred years of milliseconds.
            return start.advanced(byMilliseconds: count * Instant.millisecondsPerDay)
        case .months(let count):
            let (days, rest) = floorDivide(start.milliseconds, by: Instant.millisecondsPerDay)
            let date = CivilDate(daysSinceEpoch: days)
            let (year, month) = floorDivide(date.year * 12 + date.month - 1 + count, by: 12)
            var last = CivilDate(year: year, month: month + 1, day: date.day)
            while !last.isValid { last.day -= 1 }
            return Instant(milliseconds: last.daysSinceEpoch * Instant.millisecondsPerDay + rest)
        }
    }
}

extension CatalogHistory {
    /// The end of a non-renewing period without a stated one, by its product's `duration` in the
    /// catalog in force at its start, or where that one does not list the product, in the first later
    /// one that does (P2); nil: there is none.
    ///
    /// Cost: linear in those catalogs and their products.
    func end(of productID: String, in store: String?, from start: Instant) -> Instant? {
        guard let store, let first = index(at: start) else { return nil }
        let listed = publications[first...].lazy.compactMap {
            $0.published.product(productID, in: store)
        }
        return listed.first?.duration?.end(from: start)
    }
}
