import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI

/// A customer as two sides see them, and why they do not see the same (row Z14).
struct CustomerComparison {
    private let names: [String]
    private let here: StateContent
    private let there: StateContent
    private let absencesHere: [AbsentPurchase]
    private let provider: ComparisonSide

    /// Names what both say.
    ///
    /// `account`: the customer here. `absences`: why purchases of theirs there are not here. `there`: what the
    /// provider says of them.
    init(
        _ account: SeenCustomer.Account,
        _ absences: [AbsentPurchase],
        _ there: StateContent,
        by provider: ComparisonSide
    ) {
        names = account.names
        here = account.state
        self.there = there
        absencesHere = absences
        self.provider = provider
    }

    /// What differs and why; nil: both entitle to the same, and the catalog knows what is sold there.
    func difference() throws -> ComparedCustomer? {
        let unmapped = there.warnings.filter { $0.code == .unmapped }.compactMap(\.productID)
        let (mine, theirs) = (ComparedSide(here), ComparedSide(there))
        guard mine != theirs || !unmapped.isEmpty else { return nil }
        var reasons = try pairs().compactMap { try reason($0) }
        if !unmapped.isEmpty { reasons.append(DifferenceReason(.catalog, names: unmapped)) }
        reasons += grants(mine, theirs)
        if reasons.isEmpty {
            reasons.append(DifferenceReason(.terms, names: mine.features(butNotOf: theirs)))
        }
        return ComparedCustomer(
            customer: names.first ?? "",
            here: mine,
            there: theirs,
            reasons: reasons
        )
    }

    // MARK: Purchases

    /// A purchase on both sides, or on one.
    private struct Pair {
        var here: PurchaseState?
        var there: PurchaseState?

        var name: String? { here?.purchase ?? there?.purchase }
    }

    /// By name; what is left, by its product where it is the only one: an answer that tells the latest
    /// transaction alone names a purchase by that.
    private func pairs() -> [Pair] {
        var left = there.purchases
        var pairs: [Pair] = []
        for purchase in here.purchases {
            let same = left.firstIndex { $0.purchase.isSame(as: purchase.purchase) }
            pairs.append(Pair(here: purchase, there: same.map { left.remove(at: $0) }))
        }
        for index in pairs.indices where pairs[index].there == nil {
            let sold = left.indices.filter { left[$0].isSold(as: pairs[index].here) }
            let rivals = pairs.filter {
                $0.there == nil && $0.here?.isSold(as: pairs[index].here) == true
            }
            if sold.count == 1, rivals.count == 1 { pairs[index].there = left.remove(at: sold[0]) }
        }
        return pairs + left.map { Pair(here: nil, there: $0) }
    }

    /// Why a purchase gives access on one side alone, or by another product; nil: it does not.
    private func reason(_ pair: Pair) throws -> DifferenceReason? {
        let gives = (here: pair.here?.givesAccess == true, there: pair.there?.givesAccess == true)
        guard gives.here || gives.there else { return nil }
        if let here = pair.here, let there = pair.there, gives.here, gives.there {
            guard !here.isProduct(there.productID) else { return nil }
            // Another product begins with another period.
            return missing(.purchaseRenewed, isHere: here.ends(before: there), pair)
        }
        guard let giving = gives.here ? pair.here : pair.there else { return nil }
        guard let lacking = gives.here ? pair.there : pair.here else {
            return try absence(of: giving, isHere: !gives.here, pair)
        }
        if giving.status == .grace, [.expired, .billingRetry].contains(lacking.status) {
            return DifferenceReason(
                .grace,
                purchase: pair.name,
                event: .purchaseGraceStarted,
                here: pair.here,
                there: pair.there
            )
        }
        let (event, isToldByLacking) = lacking.lack(beside: giving)
        return missing(event, isHere: isToldByLacking ? gives.here : !gives.here, pair)
    }

    private func missing(_ event: EventKind, isHere: Bool, _ pair: Pair) -> DifferenceReason {
        DifferenceReason(
            isHere ? .missingHere : .missingThere,
            purchase: pair.name,
            event: event,
            here: pair.here,
            there: pair.there
        )
    }

    /// Why a purchase is not the customer's on one side.
    private func absence(
        of purchase: PurchaseState,
        isHere: Bool,
        _ pair: Pair
    ) throws -> DifferenceReason {
        let absence =
            isHere
            ? absencesHere.first { $0.purchase.isSame(as: purchase.purchase) }
            : try provider.absence(
                of: purchase.purchase,
                fromThoseOf: names.compactMap { CustomerID($0) }
            )
        func reason(_ code: DifferenceReason.Code, _ names: [String] = []) -> DifferenceReason {
            DifferenceReason(
                code,
                purchase: pair.name,
                here: pair.here,
                there: pair.there,
                names: names
            )
        }
        return switch absence?.reason {
        case .alias: reason(.alias, absence?.name.map { [$0] } ?? [])
        case .owner: reason(.owner)
        case .sandbox: reason(.sandbox)
        case .missing, nil: missing(.purchaseCompleted, isHere: isHere, pair)
        }
    }

    // MARK: Grants

    /// The ledger's own grants and trials behind what only it allows.
    private func grants(_ mine: ComparedSide, _ theirs: ComparedSide) -> [DifferenceReason] {
        let only = mine.features(butNotOf: theirs)
        let given = here.features.filter { feature in
            only.contains { $0.isSame(as: feature.name) }
                && [.grant, .trial].contains(feature.value.reason)
        }
        var names: [String] = []
        for source in given.flatMap(\.value.sources)
        where !names.contains(where: { $0.isSame(as: source) }) {
            names.append(source)
        }
        return names.isEmpty ? [] : [DifferenceReason(.grant, names: names)]
    }
}

extension ComparedSide {
    /// Features that another side does not allow.
    fileprivate func features(butNotOf other: ComparedSide) -> [String] {
        features.filter { feature in !other.features.contains { $0.isSame(as: feature) } }
    }
}

extension PurchaseState {
    /// Whether it unlocks what its product does.
    var givesAccess: Bool { [.active, .grace].contains(status) }

    /// Whether both are one product of one store.
    fileprivate func isSold(as other: PurchaseState?) -> Bool {
        guard let other, productID != nil, let store = PurchaseName(purchase)?.store else {
            return false
        }
        return store == PurchaseName(other.purchase)?.store && isProduct(other.productID)
    }

    /// Whether it is of a product; nil: of none that is known.
    fileprivate func isProduct(_ other: String?) -> Bool {
        guard let productID, let other else { return productID == nil && other == nil }
        return productID.isSame(as: other)
    }

    /// Whether its last period ends earlier; what has no end never does.
    fileprivate func ends(before other: PurchaseState) -> Bool {
        guard let expiresAt else { return false }
        return other.expiresAt.map { expiresAt < $0 } ?? true
    }

    /// The event because of which it gives no access where the other side does.
    ///
    /// `isToldByLacking`: whether it is this side that knows of it.
    fileprivate func lack(
        beside giving: PurchaseState
    ) -> (event: EventKind, isToldByLacking: Bool) {
        switch status {
        case .refunded: (.revocationRefunded, true)
        case .revoked: (.revocationRevoked, true)
        case .unverified: (.verificationFailed, true)
        case .paused: (.purchasePaused, true)
        case .none, .pending: (.purchaseCompleted, false)
        case .active, .grace, .expired, .billingRetry:
            if ends(before: giving) {
                (giving.productKind == .autoRenewable ? .purchaseRenewed : .purchaseExtended, false)
            } else {
                (.purchaseExpired, true)
            }
        }
    }
}
