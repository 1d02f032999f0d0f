public import Entitlements

/// A store's transaction that a customer hands in, verified already.
public struct VerifiedTransaction: Sendable {
    /// The purchase that it belongs to.
    public var purchase: PurchaseName
    /// What it says, as a signal of the store: its facts, its verification, the token that it
    /// carries, and itself as evidence; at least one event.
    public var facts: Submission

    /// Makes a transaction; whoever makes it has verified it.
    public init(purchase: PurchaseName, facts: Submission) {
        self.purchase = purchase
        self.facts = facts
    }

    /// The purchases that its facts are of: where a store tells of several products under one name, each is a
    /// purchase of its own (P3), and all of them are claimed.
    package var purchases: [PurchaseName] {
        var named: [PurchaseName] = []
        for draft in facts.drafts where draft.kind != .purchaseLinked {
            guard case .purchase(let name) = draft.subject, !named.contains(name) else { continue }
            named.append(name)
        }
        return named.isEmpty || named.contains(purchase) ? [purchase] : named
    }
}

/// What became of a transaction that a customer handed in.
public enum ClaimOutcome: Sendable, Equatable {
    /// Something of it was new, its facts or the claim: the sequence of the first event, and the log's
    /// size behind the last.
    case recorded(sequence: UInt64, size: UInt64)
    /// The ledger knew it and the customer owns it; at most its sync state was brought up to date.
    ///
    /// The sequence is that of the event that says so; nil where it is not one.
    case known(sequence: UInt64?)
    /// Nothing of it was recorded.
    ///
    /// `owner`: the customer who owns the purchase, for support's eyes only; nil where the refusal
    /// has another reason or the owner's name is erased.
    case refused(Refusal, owner: CustomerID?)
}
