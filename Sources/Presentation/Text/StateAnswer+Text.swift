import Encodings
import Entitlements
package import LedgerAPI

extension StateAnswer {
    /// The state for people: tier, features, purchases, grants, trials, warnings.
    package var textLines: [String] {
        let known = CellText.known(at: question.known)
        var lines = [
            "\(CellText.text(question.customer)) at \(question.at)\(known)"
                + " (\(question.environment.name), sequence \(question.sequence))",
            "tier \(state.tier), valid until \(CellText.text(state.validUntil))",
        ]
        lines += TextTable.lines("features", state.features.map(Self.row))
        lines += TextTable.lines(
            "purchases",
            state.purchases.map { purchase in
                [
                    purchase.purchase, CellText.text(purchase.productID), purchase.status.rawValue,
                    CellText.text(purchase.expiresAt),
                ]
            }
        )
        lines += TextTable.lines(
            "grants",
            state.grants.map { grant in
                [grant.grantID, CellText.text(grant.startsAt), CellText.text(grant.expiresAt)]
            }
        )
        lines += TextTable.lines(
            "trials",
            state.trials.map { trial in
                let days = trial.remainingDays
                return [trial.trialID, "\(days) day\(days == 1 ? "" : "s") left"]
            }
        )
        return lines + state.warnings.map { "warning: " + Self.sentence($0) }
    }

    private static func row(_ feature: Keyed<FeatureAccess>) -> [String] {
        let access = feature.value
        return [
            feature.name, word(access), access.reason.rawValue, CellText.text(access.until),
            CellText.limit(access.limit), access.sources.joined(separator: " "),
        ]
    }

    private static func word(_ access: FeatureAccess) -> String {
        access.refusal == .usedUp ? "used up" : access.isAllowed ? "yes" : "no"
    }

    private static func sentence(_ warning: StateWarning) -> String {
        let sentence =
            switch warning.code {
            case .unmapped:
                "the catalog in force does not know the product "
                    + CellText.text(warning.productID)
            case .noCatalog: "no catalog was published that would be in force"
            case .renewalExpected:
                "\(CellText.text(warning.purchase)) expired by time alone and would have renewed: "
                    + "the store has not told"
            case .unconfirmed:
                "\(CellText.text(warning.purchase)) was claimed by an old signature: "
                    + "the store was not asked since"
            case .neverSeen: "nothing was ever recorded of this customer"
            case .eventsLost: "a salvage left gaps in the log: something may be missing here"
            }
        return "\(sentence) [\(warning.code.rawValue)]"
    }
}
