extension Explanation {
    /// What a step does, with its parameters.
    package enum Effect: Sendable, Hashable {
        // What the feature takes.
        /// The catalog in force puts the feature at a tier.
        case requires(tier: String)
        /// The catalog in force gives it to everybody.
        case isFree
        /// The catalog in force does not list it.
        case isNotListed
        /// The customer's variant of an experiment changes its level.
        case variant(experiment: String, id: String)

        // Who.
        /// Another name of the customer.
        case linkedCustomer
        /// Another name of the purchase.
        case linkedPurchase
        /// The customer owns the purchase; nil: since ever.
        case owned(since: Instant?)
        /// A step on the purchase's way to its owner: somebody owned it, or nobody did; nil: until
        /// when is not told.
        case handedOn(until: Instant?)
        /// The purchase is another customer's, or nobody's.
        case notOwned(byAnother: Bool)
        /// The account of the purchase was erased, so that the next one claims nothing.
        case accountErased

        // A period of a purchase.
        /// What a transaction gives; nil: without end.
        case period(start: Instant, end: Instant?)
        /// The store moved its end; nil: it has none.
        case extended(until: Instant?)
        /// The store said that it had expired.
        case expired(at: Instant)
        /// The next period began, which ended it.
        case followed(at: Instant)
        /// It ended by the passing of time.
        case ended(at: Instant)
        /// It begins after T.
        case startsLater(at: Instant)
        /// The store's grace period; nil: without end.
        case grace(until: Instant?)
        /// The grace period ended.
        case graceEnded(at: Instant)
        /// The catalog's leeway for late news of a renewal.
        case leeway(until: Instant?)
        /// The store tries again to collect the payment.
        case retrying
        /// No access for a while; nil: without end.
        case paused(until: Instant?)
        /// The store took it back; nil: for good.
        case revoked(isRefund: Bool, until: Instant?)
        /// The store took that back.
        case reversed
        /// It passed verification.
        case verified
        /// It failed verification.
        case failedVerification
        /// No verdict is known.
        case neverVerified
        /// Its kind gives no access.
        case isConsumable
        /// The store waits for approval or payment.
        case pending
        /// The store gave up waiting.
        case abandoned
        /// Nothing is known of the purchase but its name.
        case nothingBought

        // What it unlocks.
        /// The source names the feature.
        case unlocks
        /// The source gives a tier that includes the feature.
        case unlocksTier(String)
        /// The source gives every feature.
        case unlocksAll
        /// The product gave the feature when it was bought.
        case kept
        /// The catalog does not know the product or trial.
        case isUnmapped
        /// The source gives another tier, or other features.
        case isLocked(tier: String?)
        /// Another plan, which the subscription was before, included the feature or did not; nil:
        /// until when is not told.
        case formerPlan(isIncluded: Bool, start: Instant, end: Instant?)

        // A grant or trial.
        /// Given by hand; nil: without end.
        case granted(start: Instant, end: Instant?)
        /// Taken back.
        case withdrawn(at: Instant)
        /// The app's trial.
        case trial(start: Instant, end: Instant?)

        /// What holds the gate open at the end of a yes, later than T; nil: without end.
        case continued(start: Instant, end: Instant?)

        /// Nothing there is includes the feature.
        case nothing
        /// All uses of the limit's window are made.
        case usedUp(count: Int64, period: UsagePeriod, resetsAt: Instant?)
    }
}

extension Explanation.Topic {
    /// The rule of the model that an effect applies: grants and trials begin and end by their own.
    func rule(of effect: Explanation.Effect) -> Rule {
        switch (self, effect) {
        case (.grant, .ended), (.grant, .startsLater), (.grant, .continued): .c3
        case (.trial, .ended), (.trial, .startsLater), (.trial, .isUnmapped),
            (.trial, .continued):
            .c4
        default: effect.rule
        }
    }
}

extension Explanation.Effect {
    /// The rule of the model that it applies to a purchase.
    fileprivate var rule: Rule {
        switch self {
        case .requires: .k1
        case .isFree, .nothing: .k5
        case .variant: .k8
        case .linkedCustomer: .c2
        case .linkedPurchase: .p13
        case .owned, .handedOn, .notOwned, .accountErased: .c1
        case .period, .continued, .nothingBought: .p1
        case .extended, .expired, .ended: .p2
        case .followed: .p3
        case .startsLater, .isConsumable: .p8
        case .grace, .graceEnded: .p4
        case .leeway: .p12
        case .retrying, .pending, .abandoned: .p9
        case .paused: .p5
        case .revoked, .reversed: .p6
        case .verified, .failedVerification, .neverVerified: .p7
        case .isNotListed, .unlocks, .unlocksTier, .unlocksAll, .isLocked, .formerPlan: .k2
        case .kept: .k3
        case .isUnmapped: .k4
        case .granted, .withdrawn: .c3
        case .trial: .c4
        case .usedUp: .c5
        }
    }
}
