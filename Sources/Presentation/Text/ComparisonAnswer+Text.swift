import Entitlements
package import LedgerAPI

extension ComparisonAnswer {
    /// Customers that are shown.
    private static let shownLimit = 50

    /// Who differs and why, for people: sums, then customer by customer.
    package var textLines: [String] {
        var lines = [
            "at \(at) (\(environment.name), sequence \(sequence))",
            "\(customers) customers compared, \(differing) differ",
        ]
        lines += TextTable.lines(
            "reasons",
            reasons.map { [$0.code.rawValue, "\($0.customers)"] }
        )
        for difference in differences.prefix(Self.shownLimit) { lines += difference.textLines }
        if differing > Self.shownLimit {
            lines.append("… \(differing - Self.shownLimit) more: --output FILE has all of them")
        }
        lines += TextTable.lines(
            "not compared, since not all was told: \(untold)",
            faults.map { [$0.customer, $0.code.rawValue] }
        )
        return lines
    }
}

extension ComparedCustomer {
    fileprivate var textLines: [String] {
        ["\(customer): here \(here.words), there \(there.words)"]
            + reasons.map { "  " + $0.textLine }
    }
}

extension ComparedSide {
    fileprivate var words: String {
        tier + " (" + (features.isEmpty ? "nothing" : features.joined(separator: " ")) + ")"
    }
}

extension DifferenceReason {
    fileprivate var textLine: String {
        let about = ([purchase].compactMap(\.self) + names).joined(separator: " ")
        let sides =
            here != nil || there != nil ? "; \(words("here", here)), \(words("there", there))" : ""
        return about + ": " + sentence + sides
    }

    private var sentence: String {
        switch code {
        case .missingHere: "\(event ?? "an event") is missing here"
        case .missingThere: "\(event ?? "an event") is not known there"
        case .grace: "in grace on one side alone"
        case .sandbox: "in another environment on the other side"
        case .alias: "names are one customer's on one side alone"
        case .owner: "another customer has it on the other side"
        case .catalog: "the catalog knows no such product"
        case .grant: "given by this ledger alone"
        case .terms: "bought under another catalog"
        }
    }

    private func words(_ side: String, _ purchase: PurchaseState?) -> String {
        guard let purchase else { return "\(side) nothing" }
        let end = purchase.expiresAt.map { " until \($0)" } ?? ""
        return "\(side) \(purchase.status.rawValue)\(end)"
    }
}
