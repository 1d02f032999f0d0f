import Encodings
import Entitlements

/// `diff` for people.
enum DiffText {
    static func print(_ answer: JSONValue) {
        let environment = ShowText.text(answer["environment"])
        Terminal.line("\(ShowText.text(answer["customer"])) (\(environment))")
        Terminal.line("from \(point(answer["from"]))")
        Terminal.line("to   \(point(answer["to"]))")
        for (name, word) in [("tier", "tier"), ("validUntil", "valid until")] {
            guard let change = answer[name], !change.isNull else { continue }
            Terminal.line("\(word) \(arrow(change["before"], change["after"]))")
        }
        for (part, key) in [
            ("features", "feature"), ("purchases", "purchase"), ("grants", "grantId"),
            ("trials", "trialId"),
        ] {
            let changes = answer[part]?.array ?? []
            if !changes.isEmpty { Terminal.line(part) }
            for change in changes {
                Terminal.line(
                    "  \(ShowText.text(change[key])): " + words(change).joined(separator: "; ")
                )
            }
        }
        if let warnings = answer["warnings"], !warnings.isNull {
            Terminal.line("warnings \(arrow(warnings["before"], warnings["after"]))")
        }
        if isEmpty(answer) { Terminal.line("nothing differs") }
        ShowText.table(
            "catalogs in between",
            (answer["catalogs"]?.array ?? []).map {
                [ShowText.text($0["time"]), "event", ShowText.text($0["sequence"])]
            }
        )
        ShowText.table("events in between", (answer["events"]?.array ?? []).map(event))
    }

    /// An event as a row, with both its times.
    static func event(_ event: JSONValue) -> [String] {
        [
            ShowText.text(event["time"]), "recorded", ShowText.text(event["recordedtime"]),
            ShowText.text(event["type"]), ShowText.text(event["source"]),
            String(UInt64(ShowText.text(event["sequence"])) ?? 0),
        ]
    }

    private static func isEmpty(_ answer: JSONValue) -> Bool {
        ["tier", "validUntil", "warnings"].allSatisfy { answer[$0]?.isNull ?? true }
            && ["features", "purchases", "grants", "trials"]
                .allSatisfy { answer[$0]?.array?.isEmpty ?? true }
    }

    private static func point(_ point: JSONValue?) -> String {
        let known = point?["known"]?.string.map { ", as known at \($0)" } ?? ""
        return ShowText.text(point?["at"]) + known
            + " (sequence \(ShowText.text(point?["sequence"])))"
    }

    private static func words(_ change: JSONValue) -> [String] {
        let (before, after) = (change["before"], change["after"])
        if before?.isNull ?? true { return ["came"] + summary(after) }
        if after?.isNull ?? true { return ["went"] }
        return (change["changed"]?.array ?? []).compactMap(\.string).map { name in
            "\(name) \(arrow(before?[name], after?[name]))"
        }
    }

    /// The plain members of a thing that came.
    private static func summary(_ thing: JSONValue?) -> [String] {
        (thing?.members ?? []).compactMap { member in
            switch member.value {
            case .string, .number, .bool: "\(member.name) \(ShowText.text(member.value))"
            default: nil
            }
        }
    }

    private static func arrow(_ before: JSONValue?, _ after: JSONValue?) -> String {
        "\(text(before)) → \(text(after))"
    }

    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .array(let values)?:
            values.isEmpty ? "-" : values.map { text($0) }.joined(separator: " ")
        case .object? where value?["code"] != nil:
            [value?["code"], value?["productId"]].compactMap { $0?.string }.joined(separator: " ")
        case .object?: ShowText.limit(value)
        default: ShowText.text(value)
        }
    }
}
