extension Explanation.Change {
    /// What would change a decision.
    package enum Kind: Sendable, Hashable {
        // What would make a "no" a "yes".
        /// It opens by itself, as things are known.
        case opens
        /// The same purchase again: renewed or bought anew.
        case renewal
        /// The store takes back a refund or revocation.
        case reversal
        /// The pause ends.
        case resumption
        /// The purchase passes verification.
        case verification
        /// The customer claims the purchase.
        case claim(fromAnother: Bool)
        /// What the store waits for is done.
        case approval
        /// The catalog knows the product.
        case mapping
        /// The catalog lists the feature.
        case listing
        /// A product that gives the tier.
        case upgrade(tier: String)
        /// One of these products of the catalog.
        case purchase(products: [String])
        /// A trial that was not begun yet.
        case trial(id: String)
        /// A grant by hand.
        case grant

        // What would make a "yes" a "no".
        /// The end that is known.
        case ends(End)
        /// A refund or revocation.
        case refund
        /// The grant is withdrawn.
        case withdrawal
        /// Another catalog.
        case catalog
        /// The end of all of so many sources.
        case allSources(count: Int)

        /// The window of a limit ends, and uses count anew.
        case limitReset
    }

    /// Why a "yes" ends at the instant that is known.
    package enum End: Sendable, Hashable {
        /// The period ends; whether it is set to renew, nil: it does not renew.
        case expiry(willRenew: Bool?)
        /// The period ends, and the renewal that is set is of another product.
        case switching
        /// A grace period ends.
        case grace
        /// The catalog's leeway ends.
        case leeway
        /// A pause begins.
        case pause
        /// A refund or revocation.
        case revocation
        /// A failed verification.
        case verification
        /// Another owner, or none.
        case ownership
        /// The next period, which does not include the feature.
        case followed
        /// A grant ends, or is withdrawn.
        case grant(isWithdrawn: Bool)
        /// A trial ends.
        case trial
        /// Another catalog comes into force.
        case catalog
    }
}

extension Explanation.Change.Kind {
    /// The rule of the model that it would apply.
    package var rule: Rule {
        switch self {
        case .opens: .k6
        case .renewal: .p1
        case .reversal, .refund: .p6
        case .resumption: .p5
        case .verification: .p7
        case .claim: .c1
        case .approval: .p9
        case .mapping: .k4
        case .listing, .upgrade, .purchase: .k2
        case .trial: .c4
        case .grant, .withdrawal: .c3
        case .catalog: .k1
        case .limitReset: .c5
        case .allSources: .k5
        case .ends(let end): end.rule
        }
    }
}

extension Explanation.Change.End {
    var rule: Rule {
        switch self {
        case .expiry: .p2
        case .switching: .p10
        case .grace: .p4
        case .leeway: .p12
        case .pause: .p5
        case .revocation: .p6
        case .verification: .p7
        case .ownership: .c1
        case .followed: .p3
        case .grant: .c3
        case .trial: .c4
        case .catalog: .k1
        }
    }
}
