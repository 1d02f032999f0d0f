package import Entitlements
package import LedgerAPI

extension SignalReceipt {
    /// What became of a submission.
    ///
    /// `refuse`: what is thrown for a refusal.
    package init<Failure: Error>(
        _ receipt: Receipt,
        refuse: (Refusal) -> Failure
    ) throws(Failure) {
        let size = receipt.size
        switch receipt {
        case .appended(let first, _): self.init(.appended, sequence: first, size: size)
        case .duplicate(let first): self.init(.duplicate, sequence: first, size: size)
        case .known: self.init(.known, sequence: nil, size: size)
        case .refused(let refusal): throw refuse(refusal)
        }
    }
}

extension Receipt {
    /// The size of a log that holds what was appended, now or when it was asked for first; nil: nothing was.
    package var size: UInt64? {
        switch self {
        // Fits: places in a log.
        case .appended(let first, let count): first + UInt64(count)
        case .duplicate(let sequence): sequence + 1
        case .known, .refused: nil
        }
    }
}

extension ReceiptAnswer.Use {
    /// What a use leaves.
    package init(_ outcome: UseOutcome) {
        self.init(endsAt: outcome.endsAt, limit: outcome.limit.map { UsageLimit($0) })
    }
}

extension ClaimItem {
    /// What would become of a transaction that was verified; its owners are for support only.
    package init(_ planned: PlannedClaim, of purchase: PurchaseName) {
        self.init(planned.outcome, of: purchase)
        moves = planned.moves
        if let formerOwner = planned.formerOwner { owner = formerOwner.text }
    }

    /// What became of a transaction that was verified; its owner is for support only.
    package init(_ outcome: ClaimOutcome, of purchase: PurchaseName) {
        let name = purchase.description
        switch outcome {
        case .recorded(let first, let size):
            self.init(outcome: .recorded, purchase: name, sequence: first, size: size)
        case .known(let first):
            // Fits: a place in a log.
            let size = first.map { $0 + 1 }
            self.init(outcome: .known, purchase: name, sequence: first, size: size)
        case .refused(let refusal, let owner):
            self.init(
                outcome: .refused,
                purchase: name,
                code: refusal.code.rawValue,
                detail: refusal.detail,
                owner: owner?.text
            )
        }
    }
}
