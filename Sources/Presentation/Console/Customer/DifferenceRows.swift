import Entitlements
import LedgerAPI

/// What differs between two states as rows: how a thing was, and how it is.
struct DifferenceRows {
    private(set) var rows: [Row] = []
    /// One thing that differs.
    struct Row {
        /// `+`: it came, `−`: it went, `~`: it is another.
        var mark: String
        var kind: Sentence
        var name: String
        var before: String
        var after: String
    }

    /// Puts what differs into rows; empty: nothing does that a page shows.
    init(_ difference: StateDifference, _ language: Language) {
        if let tier = difference.tier {
            let row = Row(
                mark: "~",
                kind: DifferenceWords.tier,
                name: "",
                before: tier.before,
                after: tier.after
            )
            rows.append(row)
        }
        add(DifferenceWords.feature, difference.features) {
            Self.words(Standing($0, []), $0.until, language)
        }
        add(DifferenceWords.purchase, difference.purchases) {
            Self.words(Standing($0.status), $0.expiresAt, language)
        }
        add(DifferenceWords.grant, difference.grants) { grant in
            let what = ([grant.tier].compactMap(\.self) + grant.features).joined(separator: ", ")
            let end = grant.isActive ? "" : " · " + CustomerWords.over[language]
            return Self.until(what, grant.expiresAt, language) + end
        }
        add(DifferenceWords.trial, difference.trials) { trial in
            CustomerWords.daysLeft.counting(
                trial.remainingDays,
                one: CustomerWords.oneDayLeft,
                in: language
            )
        }
        if let warnings = difference.warnings {
            let row = Row(
                mark: "~",
                kind: DifferenceWords.warning,
                name: "",
                before: warnings.before.map(\.code.rawValue).joined(separator: ", "),
                after: warnings.after.map(\.code.rawValue).joined(separator: ", ")
            )
            rows.append(row)
        }
    }

    private mutating func add<Thing: NamedThing>(
        _ kind: Sentence,
        _ pairs: [NamedPair<Thing>],
        _ text: (Thing) -> String
    ) {
        for pair in pairs {
            let mark = pair.before == nil ? "+" : pair.after == nil ? "−" : "~"
            let row = Row(
                mark: mark,
                kind: kind,
                name: pair.name,
                before: pair.before.map(text) ?? "–",
                after: pair.after.map(text) ?? "–"
            )
            rows.append(row)
        }
    }

    private static func words(
        _ standing: Standing,
        _ end: Instant?,
        _ language: Language
    ) -> String {
        until(standing.name[language], end, language)
    }

    private static func until(_ text: String, _ end: Instant?, _ language: Language) -> String {
        guard let end else { return text }
        return text + " · " + CustomerWords.until[language] + " "
            + InstantText(language: language)(end)
    }
}
