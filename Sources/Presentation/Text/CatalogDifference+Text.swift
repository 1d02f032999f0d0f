import Encodings
package import LedgerAPI

extension CatalogDifference {
    /// What differs between two catalogs, for people.
    package var textLines: [String] {
        var lines = isEmpty ? ["the catalogs say the same"] : []
        for (name, change) in [("tiers", tiers), ("policy", policy), ("offerings", offerings)] {
            guard let change else { continue }
            lines.append("\(name) \(change.before) → \(change.after)")
        }
        for (name, changes) in [
            ("features", features), ("products", products), ("trials", trials),
            ("experiments", experiments),
        ] {
            lines += TextTable.lines(
                "changed \(name)",
                changes.map { [$0.id] + Self.words($0) }
            )
        }
        if hasOtherTimeZones { lines.append("time zones differ") }
        return lines
    }

    private static func words(_ change: ThingChange) -> [String] {
        guard let before = change.before else { return ["is new"] }
        guard let after = change.after else { return ["is gone"] }
        return change.changed.map { name in
            let sides = [before, after].map { $0[name]?.description ?? "-" }
            return "\(name) \(sides[0]) → \(sides[1])"
        }
    }
}

extension CatalogValidationAnswer {
    /// What is wrong and what is doubtful, for people.
    package var textLines: [String] {
        faults.map { "\($0.path): \($0.detail) [\($0.code)]" }
            + warnings.map { "warning: \($0.path): \($0.detail) [\($0.code)]" }
            + (isOK ? ["the catalog is valid"] : [])
    }
}
