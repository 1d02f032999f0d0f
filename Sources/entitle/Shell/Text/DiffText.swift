import Encodings
import Entitlements
import LedgerAPI

/// `diff` for people.
enum DiffText {
    static func print(_ answer: DifferenceAnswer) {
        let difference = answer.difference
        Terminal.line("\(answer.customer) (\(answer.environment.name))")
        Terminal.line("from \(point(answer.from))")
        Terminal.line("to   \(point(answer.to))")
        if let tier = difference.tier { Terminal.line("tier \(tier.before) → \(tier.after)") }
        if let until = difference.validUntil {
            let (before, after) = (ShowText.text(until.before), ShowText.text(until.after))
            Terminal.line("valid until \(before) → \(after)")
        }
        list("features", difference.features)
        list("purchases", difference.purchases)
        list("grants", difference.grants)
        list("trials", difference.trials)
        if let warnings = difference.warnings {
            Terminal.line("warnings \(text(warnings.before)) → \(text(warnings.after))")
        }
        if difference.isEmpty { Terminal.line("nothing differs") }
        ShowText.table(
            "catalogs in between",
            answer.catalogs.map { [$0.time.description, "event", String($0.sequence)] }
        )
        ShowText.table("events in between", answer.events.map(event))
    }

    /// An event as a row, with both its times.
    static func event(_ event: ListedEvent) -> [String] {
        [
            event.time.description, "recorded", event.recordedAt.description, event.type,
            ShowText.text(event.source), String(event.sequence),
        ]
    }

    private static func point(_ point: ComparedPoint) -> String {
        let known = point.known.map { ", as known at \($0)" } ?? ""
        return point.at.description + known + " (sequence \(point.sequence))"
    }

    private static func list<Thing>(_ part: String, _ changes: [NamedPair<Thing>]) {
        if !changes.isEmpty { Terminal.line(part) }
        for change in changes {
            Terminal.line("  \(change.name): " + words(change).joined(separator: "; "))
        }
    }

    private static func words<Thing>(_ change: NamedPair<Thing>) -> [String] {
        guard let after = change.after.map(Thing.fields.members) else { return ["went"] }
        guard let before = change.before.map(Thing.fields.members) else {
            return ["came"] + after.compactMap(plain)
        }
        return zip(before, after).filter { change.changed.contains($0.0.name) }
            .map { "\($0.name) \(text($0.value)) → \(text($1.value))" }
    }

    /// A plain member of a thing that came.
    private static func plain(_ member: JSONMember) -> String? {
        switch member.value {
        case .string, .number, .bool: "\(member.name) \(ShowText.text(member.value))"
        case .array, .object, .null: nil
        }
    }

    private static func text(_ warnings: [StateWarning]) -> String {
        warnings.isEmpty
            ? "-"
            : warnings.flatMap {
                [$0.code.rawValue, $0.productID, $0.purchase].compactMap(\.self)
            }
            .joined(separator: " ")
    }

    /// A value of any member; the one object among them is a limit.
    private static func text(_ value: JSONValue) -> String {
        switch value {
        case .array(let values):
            values.isEmpty ? "-" : values.map { text($0) }.joined(separator: " ")
        case .object:
            (try? UsageLimit.fields.read(value)).map { ShowText.limit($0) } ?? "-"
        default: ShowText.text(value)
        }
    }
}
