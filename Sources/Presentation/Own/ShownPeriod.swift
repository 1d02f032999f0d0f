import LedgerAPI

/// How long a plan's period is, in words: `P1M`, `P7D`, `P1Y` (ISO 8601, of one unit).
struct ShownPeriod: Hashable {
    let count: Int64
    let unit: Unit

    enum Unit { case day, week, month, year }

    /// Periods of more are nobody's.
    private static let countLimit: Int64 = 9999

    /// Reads a period; nil: it is none of one unit, and nothing is said of it.
    init?(_ text: String?) {
        guard let text, text.utf8.count <= 6, text.first == "P", let last = text.last,
            let unit = Self.units[last], let count = Int64(text.dropFirst().dropLast()),
            (1...Self.countLimit).contains(count)
        else { return nil }
        // A week is how people say it.
        let isWeeks = unit == .day && count % 7 == 0 && count <= 28
        self.init(count: isWeeks ? count / 7 : count, unit: isWeeks ? .week : unit)
    }

    private init(count: Int64, unit: Unit) {
        self.count = count
        self.unit = unit
    }

    private static let units: [Character: Unit] = ["D": .day, "W": .week, "M": .month, "Y": .year]

    /// So many of them in a row; nil: more than anybody offers.
    func times(_ other: Int64) -> ShownPeriod? {
        let (product, overflow) = count.multipliedReportingOverflow(by: other)
        guard !overflow, (1...Self.countLimit).contains(product) else { return nil }
        return ShownPeriod(count: product, unit: unit)
    }

    /// Whole calendar months; nil: days and weeks are none.
    var months: Int64? {
        switch unit {
        case .day, .week: nil
        case .month: count
        // Fits: at most 9999 years.
        case .year: count * 12
        }
    }

    /// What stands behind a price: `month`, `3 months`; ja `1か月`; zh `月`, ` 3 個月`.
    func each(in language: Language) -> String {
        switch language {
        case .english: count == 1 ? english : length(in: language)
        case .japanese: length(in: language)
        case .traditionalChinese: count == 1 ? chinese : " " + length(in: language)
        }
    }

    /// How long it lasts: `7 days`; ja `7日間`; zh `7 天`.
    func length(in language: Language) -> String {
        switch language {
        case .english: "\(count) \(english)" + (count == 1 ? "" : "s")
        case .japanese: "\(count)" + japanese
        case .traditionalChinese:
            "\(count) " + (unit == .month || unit == .week ? "個" : "") + chinese
        }
    }

    /// As it stands before a noun: `7-day`; elsewhere as it lasts.
    func adjective(in language: Language) -> String {
        language == .english ? "\(count)-\(english)" : length(in: language)
    }

    private var english: String {
        switch unit {
        case .day: "day"
        case .week: "week"
        case .month: "month"
        case .year: "year"
        }
    }

    private var japanese: String {
        switch unit {
        case .day: "日間"
        case .week: "週間"
        case .month: "か月"
        case .year: "年"
        }
    }

    private var chinese: String {
        switch unit {
        case .day: "天"
        case .week: "週"
        case .month: "月"
        case .year: "年"
        }
    }
}
