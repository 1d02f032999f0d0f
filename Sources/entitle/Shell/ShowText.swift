import Encodings
import Entitlements

/// `show` for people.
enum ShowText {
    static func print(_ answer: JSONValue) {
        let known = answer["known"]?.string.map { ", as known at \($0)" } ?? ""
        Terminal.line(
            "\(text(answer["customer"])) at \(text(answer["at"]))\(known)"
                + " (\(text(answer["environment"])), sequence \(text(answer["sequence"])))"
        )
        Terminal.line("tier \(text(answer["tier"])), valid until \(text(answer["validUntil"]))")
        table(
            "features",
            (answer["features"]?.members ?? []).map { member in
                let feature = member.value
                return [
                    member.name, feature["allowed"]?.bool == true ? "yes" : "no",
                    text(feature["reason"]), text(feature["until"]), limit(feature["limit"]),
                    (feature["sources"]?.array ?? []).map(text).joined(separator: " "),
                ]
            }
        )
        table(
            "purchases",
            (answer["purchases"]?.array ?? []).map { purchase in
                [
                    text(purchase["purchase"]), text(purchase["productId"]),
                    text(purchase["status"]), text(purchase["expiresAt"]),
                ]
            }
        )
        table(
            "grants",
            (answer["grants"]?.array ?? []).map {
                [text($0["grantId"]), text($0["startsAt"]), text($0["expiresAt"])]
            }
        )
        table(
            "trials",
            (answer["trials"]?.array ?? []).map {
                [text($0["trialId"]), "\(text($0["remainingDays"])) days left"]
            }
        )
        for warning in answer["warnings"]?.array ?? [] {
            Terminal.line("warning: \(text(warning["code"])) \(text(warning["productId"]))")
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

    static func limit(_ limit: JSONValue?) -> String {
        guard let limit, !limit.isNull else { return "" }
        return "\(text(limit["remaining"])) of \(text(limit["count"])) a \(text(limit["period"]))"
    }
}
