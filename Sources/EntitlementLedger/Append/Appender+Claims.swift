import Crypto
import Encodings
public import Entitlements
import EventLog

extension Appender {
    /// Transactions that one restore takes.
    public static let restoreLimit = 1000

    /// Records a verified transaction that a customer hands in, and their claim to its purchase,
    /// together or not at all (rows 2.3 and CL2, C1).
    ///
    /// The store's own account token counts first. Under `policy.claim` `keep` a second
    /// customer is refused whole. The environment is the transaction's, whatever the request's is.
    /// Of several products bought under one name each is claimed by itself, in the order in which the store
    /// tells them; behind one that is refused no other is, and what was recorded before it stands.
    ///
    /// - Returns: what became of it; the same again if it is handed in again.
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    public func claim(
        _ transaction: VerifiedTransaction,
        for customer: CustomerID,
        _ request: Request
    ) throws -> ClaimOutcome {
        try claim([(transaction, request)], for: customer)[0]
    }

    /// Records the verified transactions that a customer restores, each like a claim (row 6.3).
    ///
    /// Those of different purchases share a commit. A purchase's claim stands under the request's
    /// id and a digest of the purchase, whatever the order in which they are handed in.
    ///
    /// - Returns: one outcome for each, in their order; those beyond `restoreLimit` are refused.
    /// - Throws: `LedgerFault`, `LogStorageFault`; what was recorded until then stands.
    public func restore(
        _ transactions: [VerifiedTransaction],
        for customer: CustomerID,
        _ request: Request
    ) throws -> [ClaimOutcome] {
        let taken = transactions.prefix(Self.restoreLimit)
        let outcomes = try claim(
            taken.map { ($0, request.part(of: $0.purchase)) },
            for: customer
        )
        let beyond = ClaimOutcome.refused(
            Refusal(.tooLarge, "", "a restore has at most \(Self.restoreLimit) transactions"),
            owner: nil
        )
        return outcomes + Array(repeating: beyond, count: transactions.count - taken.count)
    }

    private func claim(
        _ items: [(transaction: VerifiedTransaction, request: Request)],
        for customer: CustomerID
    ) throws -> [ClaimOutcome] {
        let parts = items.indices.flatMap { ClaimPart.parts(of: $0, items[$0]) }
        /// Of each item, what became of its parts so far.
        var told = Array(repeating: [ClaimOutcome](), count: items.count)
        var refused: [VerifiedTransaction] = []
        var waiting = Array(parts.indices)
        while !waiting.isEmpty {
            // Those of one purchase, or of one signal, rely on one another: one of each at a time.
            var taken: Set<Name> = []
            let group = waiting.filter { index in
                let transaction = parts[index].transaction
                let names = [Name(transaction.purchase.description), Name(transaction.facts.id)]
                guard taken.isDisjoint(with: names) else { return false }
                taken.formUnion(names)
                return true
            }
            let proposals = group.map { index in
                ClaimProposal(
                    transaction: parts[index].transaction,
                    whole: parts[index].whole,
                    customer: customer,
                    request: parts[index].request
                )
            }
            var over = Set(group)
            for (index, outcome) in zip(group, try pipeline.record(proposals)) {
                let part = parts[index]
                told[part.item].append(outcome)
                guard case .refused(let refusal, _) = outcome else { continue }
                // Behind what is refused of a transaction nothing more of it is asked for.
                over.formUnion(waiting.filter { parts[$0].item == part.item })
                guard refusal == .claimedByAnother else { continue }
                refused.append(part.transaction)
            }
            waiting.removeAll { over.contains($0) }
        }
        for transaction in refused {
            let environment = transaction.facts.environment
            try noteRefusedClaim(on: transaction.purchase, by: customer, in: environment)
        }
        return told.map(ClaimPart.outcome)
    }
}

/// The claim of one purchase, of those that a transaction gives.
private struct ClaimPart {
    /// The place of the transaction among those that were handed in.
    var item: Int
    var transaction: VerifiedTransaction
    /// What the purchase is one product of; nil: it is all that was bought.
    var whole: PurchaseName?
    var request: Request

    static func parts(
        of item: Int,
        _ given: (transaction: VerifiedTransaction, request: Request)
    ) -> [ClaimPart] {
        let (transaction, request) = given
        let purchases = transaction.purchases
        guard purchases != [transaction.purchase] else {
            return [ClaimPart(item: item, transaction: transaction, request: request)]
        }
        return purchases.map { purchase in
            ClaimPart(
                item: item,
                transaction: VerifiedTransaction(purchase: purchase, facts: transaction.facts),
                whole: transaction.purchase,
                request: request.part(of: purchase)
            )
        }
    }

    /// What is told of a transaction: a refusal before all, then what was new.
    ///
    /// `parts`: in the order in which they were recorded; one at least.
    static func outcome(of parts: [ClaimOutcome]) -> ClaimOutcome {
        var told = parts[0]
        for part in parts {
            switch (told, part) {
            case (_, .refused): return part
            case (.recorded(let first, _), .recorded(_, let size)):
                told = .recorded(sequence: first, size: size)
            case (.known, .recorded): told = part
            default: break
            }
        }
        return told
    }
}

extension Request {
    /// The part of this request that concerns a purchase: its id and 8 bytes of a digest.
    fileprivate func part(of purchase: PurchaseName) -> Request {
        var part = self
        let digest = SHA256.hash(data: Array(purchase.description.utf8))
        part.id += "#" + Hexadecimal.encode(digest.prefix(8))
        return part
    }
}
