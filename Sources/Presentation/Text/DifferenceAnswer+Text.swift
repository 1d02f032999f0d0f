import Encodings
import Entitlements
package import LedgerAPI

extension DifferenceAnswer {
    /// The difference for people: what changed, part by part, then what was recorded in between.
    package var textLines: [String] {
        var lines = [
            "\(customer) (\(environment.name))", "from \(Self.text(from))", "to   \(Self.text(to))",
        ]
        if let tier = difference.tier { lines.append("tier \(tier.before) → \(tier.after)") }
        if let until = difference.validUntil {
            let (before, after) = (CellText.text(until.before), CellText.text(until.after))
            lines.append("valid until \(before) → \(after)")
        }
        lines += Self.list("features", difference.features)
        lines += Self.list("purchases", difference.purchases)
        lines += Self.list("grants", difference.grants)
        lines += Self.list("trials", difference.trials)
        if let warnings = difference.warnings {
            let (before, after) = (Self.text(warnings.before), Self.text(warnings.after))
            lines.append("warnings \(before) → \(after)")
        }
        if difference.isEmpty { lines.append("nothing differs") }
        lines += TextTable.lines(
            "catalogs in between",
            catalogs.map { [$0.time.description, "event", String($0.sequence)] }
        )
        return lines + TextTable.lines("events in between", events.map(\.cellTexts))
    }

    private static func text(_ point: ComparedPoint) -> String {
        "\(point.at)\(CellText.known(at: point.known)) (sequence \(point.sequence))"
    }

    private static func list(
        _ part: String,
        _ changes: [NamedPair<some NamedThing>]
    ) -> [String] {
        guard !changes.isEmpty else { return [] }
        return [part]
            + changes.map { "  \($0.name): " + words($0).joined(separator: "; ") }
    }

    private static func words<Thing: NamedThing>(_ change: NamedPair<Thing>) -> [String] {
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
        case .string, .number, .bool: "\(member.name) \(CellText.text(member.value))"
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
            // Another object has no text of its own.
            (try? UsageLimit.fields.read(value)).map { CellText.limit($0) } ?? "-"
        default: CellText.text(value)
        }
    }
}

extension ListedEvent {
    /// The event as a row, with both its times.
    var cellTexts: [String] {
        [
            time.description, "recorded", recordedAt.description, type, CellText.text(source),
            String(sequence),
        ]
    }
}
