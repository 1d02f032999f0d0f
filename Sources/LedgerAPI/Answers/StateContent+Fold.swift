import Encodings
package import Entitlements

extension StateContent {
    /// A state as the fold states it, with the names of its numbers.
    ///
    /// `rules`: whose warnings it has (`RulesVersion`).
    package init(
        _ state: CustomerState,
        names: some AnswerNames,
        rules: UInt16 = RulesVersion.current
    ) throws {
        self.init(
            tier: state.tier,
            validUntil: state.validUntil,
            features: try state.features.map {
                Keyed($0.id, try FeatureAccess($0, names: names))
            },
            purchases: try state.purchases
                .map { PurchaseState($0, name: try names.purchaseName($0.number)) }
                .sorted { $0.purchase.precedes($1.purchase) },
            grants: try state.grants
                .map { GrantState($0, id: try names.grantID(givenAt: $0.sequence)) }
                .sorted { $0.grantID.precedes($1.grantID) },
            trials: state.trials.map {
                TrialState(trialID: $0.id, remainingDays: $0.remainingDays)
            },
            warnings: try state.warnings.map { try StateWarning($0, names) }
                .filter { $0.code.since <= rules }
                .sorted { $0.precedes($1) }
        )
    }
}

extension PurchaseState {
    /// A purchase as the fold states it.
    package init(_ purchase: CustomerState.PurchaseState, name: String) {
        self.init(
            purchase: name,
            productID: purchase.productID,
            productKind: purchase.productKind,
            status: purchase.status,
            expiresAt: purchase.expiresAt,
            isVerified: purchase.isVerified,
            isSynced: purchase.syncedAt != nil,
            syncedAt: purchase.syncedAt,
            willRenew: purchase.willRenew,
            nextProductID: purchase.nextProductID
        )
    }
}

extension GrantState {
    fileprivate init(_ grant: CustomerState.GrantState, id: String) {
        self.init(
            grantID: id,
            features: grant.features,
            tier: grant.tier,
            startsAt: grant.interval.start,
            expiresAt: grant.interval.end,
            isActive: grant.isActive
        )
    }
}

extension StateWarning {
    /// By purchase, those about none first; of one purchase by code; the others stay as they come.
    fileprivate func precedes(_ other: StateWarning) -> Bool {
        let (own, others) = (purchase ?? "", other.purchase ?? "")
        if purchase != nil, own.isSame(as: others) {
            return code.rawValue < other.code.rawValue
        }
        return own.precedes(others)
    }

    fileprivate init(_ warning: CustomerState.Warning, _ names: some AnswerNames) throws {
        switch warning {
        case .unmapped(let productID): self.init(code: .unmapped, productID: productID)
        case .noCatalog: self.init(code: .noCatalog)
        case .renewalExpected(let purchase):
            self.init(code: .renewalExpected, purchase: try names.purchaseName(purchase))
        case .unconfirmed(let purchase):
            self.init(code: .unconfirmed, purchase: try names.purchaseName(purchase))
        case .neverSeen: self.init(code: .neverSeen)
        case .eventsLost: self.init(code: .eventsLost)
        }
    }
}
