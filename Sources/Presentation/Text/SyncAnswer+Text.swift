package import LedgerAPI

extension SyncAnswer {
    /// What came of asking the stores, for people: a line for each purchase.
    package var textLines: [String] {
        let told = purchases.map(\.textLine)
        let untold = faults.map { "\($0.store): did not tell all (\($0.code.rawValue))" }
        return told.isEmpty && untold.isEmpty
            ? ["nothing is owned that a store could be asked about"] : told + untold
    }
}

extension SyncedPurchase {
    /// What came of asking about it, in a line.
    package var textLine: String {
        let counts = found == 0 ? "" : ", \(found) found, \(appended) events appended"
        let changes = differences.isEmpty ? "" : "; differs: " + differences.joined(separator: ", ")
        return "\(purchase): \(word)\(counts)\(changes)"
    }

    private var word: String {
        switch outcome {
        case .completed: "as known"
        case .reconciled: "reconciled"
        case .failed where isToAskAgain: "not fetched whole (\(code?.rawValue ?? ""))"
        case .failed: "not known to its store, or no more (\(code?.rawValue ?? ""))"
        case .notAsked: "not asked (\(code?.rawValue ?? ""))"
        }
    }
}

extension BackfillAnswer {
    /// What came of asking about everybody, for people.
    package var textLines: [String] {
        sources.map(\.textLine) + [
            "purchases: \(completed) as known, \(reconciled) reconciled, \(failed) not fetched whole, "
                + "\(notAsked) not asked"
                + (remaining == 0 ? "" : ", \(remaining) not come to: ask again for them")
        ] + failures.map { "  " + $0.textLine }
    }
}

extension BackfilledSource {
    fileprivate var textLine: String {
        "\(store): \(since) to \(through): \(found) messages, \(appended) events appended"
            + (refused == 0 ? "" : "; \(refused) refused")
            + (code.map { "; not all (\($0.rawValue))" } ?? "")
    }
}

extension ExtensionAnswer {
    /// What became of it, for people.
    package var textLines: [String] {
        guard let endsAt else { return ["the App Store did not move it"] }
        return ["renews at \(endsAt)"] + purchases.map(\.textLine)
    }
}

extension TestNotificationAnswer {
    /// What became of it, for people.
    package var textLines: [String] {
        let words = attempts.isEmpty ? "not sent yet" : attempts.joined(separator: ", ")
        return ["\(bundleID): " + (isTaken ? "taken" : "not taken: " + words)]
    }
}
