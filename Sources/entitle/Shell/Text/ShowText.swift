import Encodings
import Entitlements
import LedgerAPI

/// `show` for people.
enum ShowText {
    static func print(_ answer: StateAnswer) {
        let (question, state) = (answer.question, answer.state)
        let known = question.known.map { ", as known at \($0)" } ?? ""
        Terminal.line(
            "\(text(question.customer)) at \(question.at)\(known)"
                + " (\(question.environment.name), sequence \(question.sequence))"
        )
        Terminal.line("tier \(state.tier), valid until \(text(state.validUntil))")
        table(
            "features",
            state.features.map { feature in
                let access = feature.value
                return [
                    feature.name, word(access), access.reason.rawValue,
                    text(access.until), limit(access.limit),
                    access.sources.joined(separator: " "),
                ]
            }
        )
        table(
            "purchases",
            state.purchases.map {
                [$0.purchase, text($0.productID), $0.status.rawValue, text($0.expiresAt)]
            }
        )
        table(
            "grants",
            state.grants.map { [$0.grantID, text($0.startsAt), text($0.expiresAt)] }
        )
        table("trials", state.trials.map { [$0.trialID, "\($0.remainingDays) days left"] })
        for warning in state.warnings {
            Terminal.line("warning: " + sentence(warning))
        }
    }

    /// Prints rows in aligned columns under a heading; nothing where there are none.
    static func table(_ heading: String, _ rows: [[String]]) {
        guard let width = rows.map(\.count).max() else { return }
        let widths = (0..<width).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        Terminal.line(heading)
        for row in rows {
            let cells = row.enumerated().map { column, cell in
                cell + String(repeating: " ", count: widths[column] - cell.count)
            }
            var line = "  " + cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            Terminal.line(line)
        }
    }

    static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text)?: text
        case .number(let digits)?: digits
        case .bool(let flag)?: flag ? "yes" : "no"
        default: "-"
        }
    }

    /// A value, or a dash.
    static func text(_ value: (some CustomStringConvertible)?) -> String {
        value?.description ?? "-"
    }

    static func limit(_ limit: UsageLimit?) -> String {
        guard let limit else { return "" }
        let period = text(limit.period?.rawValue)
        let reset = limit.remaining == 0 ? limit.resetsAt.map { " until \($0)" } ?? "" : ""
        return "\(text(limit.remaining)) of \(text(limit.count)) a \(period)" + reset
    }

    private static func word(_ access: FeatureAccess) -> String {
        access.refusal == .usedUp ? "used up" : access.isAllowed ? "yes" : "no"
    }

    private static func sentence(_ warning: StateWarning) -> String {
        let sentence =
            switch warning.code {
            case .unmapped:
                "the catalog in force does not know the product \(text(warning.productID))"
            case .noCatalog: "no catalog was published that would be in force"
            case .renewalExpected:
                "\(text(warning.purchase)) expired by time alone and would have renewed: "
                    + "the store has not told"
            case .neverSeen: "nothing was ever recorded of this customer"
            case .eventsLost: "a salvage left gaps in the log: something may be missing here"
            }
        return "\(sentence) [\(warning.code.rawValue)]"
    }
}
