import Entitlements
package import LedgerAPI

extension StatusAnswer {
    /// How the ledger is, for people: events, doubts, checkpoint, room, sources.
    package var textLines: [String] {
        var lines = [summary] + doubts
        let signed = checkpoint.map { "\($0.size) events, root \($0.rootHash)" }
        lines.append("signed: \(signed ?? "nothing yet")")
        if let disk {
            let search = disk.identifiers.map { " (ids for the search \(Self.megabytes($0)))" }
            let parts = [
                ("log", disk.log, ""), ("vault", disk.vault, search ?? ""),
                ("views", disk.views, ""),
            ]
            let taken = parts.map { "\($0) \(Self.megabytes($1))\($2)" }.joined(separator: ", ")
            lines.append("disk: \(taken); \(Self.megabytes(disk.free)) free")
        }
        let jobs = jobs ?? []
        if !jobs.isEmpty { lines += TextTable.lines("jobs", jobs.map(\.row)) }
        let alerts = alerts ?? []
        if !alerts.isEmpty { lines += TextTable.lines("alerts", alerts.map(\.row)) }
        return lines
            + TextTable.lines(
                "sources",
                completeness.map { source in
                    [
                        source.name, "\(source.value.events) events",
                        source.value.through.map { "complete until \($0)" } ?? "",
                        source.value.gaps.map { source.value.sentence($0, of: source.name) }
                            .joined(separator: "; "),
                    ]
                }
            )
    }

    private var summary: String {
        let counts = environmentCounts
        let environments = [
            ("production", counts.production), ("sandbox", counts.sandbox), ("local", counts.local),
        ].filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        let last = lastRecordedAt.map { "the last recorded at \($0)" }
        let said = (environments + [last].compactMap(\.self)).joined(separator: ", ")
        return "\(health.rawValue): \(sequence) events" + (said.isEmpty ? "" : " (\(said))")
    }

    /// What is wrong, and what comes next.
    private var doubts: [String] {
        switch health {
        case .ok: []
        case .viewsDiscarded:
            [
                "views are not believed: \(views.discarded ?? "")",
                "answers come from the log; the next command that writes makes them anew",
            ]
        case .eventsLost:
            [
                "a salvage could not bring back \(lost ?? 0) events",
                "next: `entitle audit` says which; import them again from their sources",
            ]
        }
    }

    private static func megabytes(_ bytes: Int64) -> String {
        "\((bytes + 999_999) / 1_000_000) MB"
    }
}

extension StatusAnswer.Completeness {
    fileprivate func sentence(_ gap: Gap, of store: String) -> String {
        switch gap {
        case .neverAsked: "the store was never asked: \(Source.fetching(from: store))"
        case .cannotBeAsked: "it has no list of what it sent: \(Source.fetching(from: store))"
        case .refused: "signals were refused at \(CellText.text(lastRefusedAt))"
        }
    }
}

extension LedgerAlert {
    /// What is the matter, for people.
    fileprivate var row: [String] { [alert.rawValue, about ?? "", "since \(since)", detail] }
}

extension JobStatus {
    /// What a server does by itself, for people: when it did it last, how that ended, and when it comes
    /// again.
    fileprivate var row: [String] {
        [
            name, result?.rawValue ?? "not yet", lastRunAt.map { "last \($0)" } ?? "",
            nextRunAt.map { "next \($0)" } ?? "",
        ]
    }
}
