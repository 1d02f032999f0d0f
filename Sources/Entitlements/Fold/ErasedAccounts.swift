/// Who may be an erased customer under a new number (C1): a store goes on naming the same person, and
/// nothing is left that says whom it named before.
struct ErasedAccounts {
    /// The first erasure of each customer, by their number: its sequence; none where no account of the
    /// purchase was erased.
    private var erasures: [UInt64: UInt64] = [:]
    /// Where in the log each customer is named first.
    private var firstNamed: [UInt64: UInt64] = [:]

    /// Finds the erased among the accounts of a purchase.
    ///
    /// Cost: of a log without an erasure none; where no account was erased, a look at each.
    ///
    /// - Parameters:
    ///   - facts: the claims, releases and periods of the purchase.
    ///   - transfers: all of them: whoever has a part in one is known.
    ///   - customers: names of one customer (C2).
    ///   - erasures: the sequence of the first erasure of each customer.
    init(_ facts: [Fact], transfers: [Fact], customers: Links, erasures: [UInt64: UInt64]) {
        guard !erasures.isEmpty else { return }
        let haveErased = facts.contains { fact in
            fact.account.map { erasures[customers.canonical($0)] != nil } ?? false
        }
        guard haveErased else { return }
        self.erasures = erasures
        for fact in facts + transfers {
            // Of a period the account, of a claim or a release the customer, of a transfer both.
            let named = [
                fact.kind.givesPeriod ? nil : fact.subject,
                fact.kind == .customerTransferred ? fact.other : fact.account,
            ]
            for customer in named.compactMap(\.self).map(customers.canonical) {
                firstNamed[customer] = min(firstNamed[customer] ?? .max, fact.sequence)
            }
        }
    }

    /// Whether no account of the purchase was erased.
    var isEmpty: Bool { erasures.isEmpty }

    /// The erasure of a customer, where nothing before it named another one: they may be one person.
    ///
    /// Whoever was named before it is somebody else; nil: so it is here, or nobody was erased. Both are
    /// customers at the end of their links.
    func erasure(of erased: UInt64, beforeNaming customer: UInt64) -> UInt64? {
        guard erased != customer, let erasure = erasures[erased],
            let named = firstNamed[customer], erasure < named
        else { return nil }
        return erasure
    }
}
