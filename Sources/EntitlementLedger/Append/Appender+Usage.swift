import Encodings
public import Entitlements

/// What became of a limited use, and what is left.
public struct UseOutcome: Sendable, Equatable {
    /// What became of the request.
    public var receipt: Receipt
    /// The end of the lease, for a limit in seconds a use: its time + amount (row Z16); nil: none.
    public var endsAt: Instant?
    /// The limit as it stands after the use; nil: the feature has none.
    package var limit: CustomerState.LimitState?
}

extension Appender {
    /// The unit whose uses are leases (C5).
    private static let leaseUnit = "seconds"

    /// Checks and records a limited use in one step (C5, rows B2, Z16): never over, never under.
    ///
    /// `amount`: how much; nil: as much as one use may. In seconds it is a lease that ends at the use's time +
    /// amount.
    ///
    /// The request's id is the use's: a repeat changes nothing and is told the same end.
    public func use(
        _ featureID: String,
        by customer: CustomerID,
        amount: Int64?,
        unit: String?,
        _ request: Request
    ) throws -> UseOutcome {
        let data = EventData(
            .usageRecorded,
            [
                .useID: .text(request.id), .featureID: .text(featureID),
                .amount: amount.map { .integer($0) }, .unit: unit.map { .text($0) },
            ]
        )
        var decided = UseOutcome(receipt: .known)
        let receipt = try decide(request, customer, data) { reader, now in
            // What the state is made from is what the writer must find unmoved (E4).
            _ = try reader.facts(ofCustomer: customer)
            _ = try reader.catalogs()
            let state = try reader.pipeline.questions.timeline(
                of: customer,
                environment: reader.environment,
                size: reader.size
            ).state(at: now)
            switch Self.limit(of: featureID, amount: amount, unit: unit, in: state) {
            case .refused(let refusal): return .refused(refusal)
            case .value(let limit):
                decided.limit = limit?.afterOneMore
                decided.endsAt = Self.leaseEnd(from: now, amount, limit)
                return .record
            }
        }
        decided.receipt = receipt
        switch receipt {
        // Nothing is read any more: what stands is acknowledged, whatever fails (E3).
        case .appended: return decided
        case .duplicate(let first): return try repeated(first, of: featureID, by: customer, request)
        case .known, .refused: return UseOutcome(receipt: receipt)
        }
    }

    /// A lease's end; nil: the limit is none in seconds a use.
    ///
    /// `amount`: nil: all that one use may take.
    private static func leaseEnd(
        from time: Instant,
        _ amount: Int64?,
        _ limit: CustomerState.LimitState?
    ) -> Instant? {
        guard let perUse = limit?.perUse, perUse.unit == leaseUnit else { return nil }
        let (length, isTooLong) = (amount ?? perUse.amount).multipliedReportingOverflow(by: 1000)
        return isTooLong ? nil : time.advanced(byMilliseconds: length)
    }

    /// The limit of a use that the state allows.
    private static func limit(
        of featureID: String,
        amount: Int64?,
        unit: String?,
        in state: CustomerState
    ) -> Decided<CustomerState.LimitState?> {
        guard let feature = state.features.first(where: { $0.id.isSame(as: featureID) }) else {
            let near = NearNames.near(featureID, among: state.features.map(\.id))
            return .refused(
                Refusal(
                    .unknownFeature,
                    "featureId",
                    "the catalog in force has no such feature"
                        + (near.isEmpty ? "" : "; near it: " + near.joined(separator: ", "))
                )
            )
        }
        guard feature.isAllowed else {
            return .refused(Refusal(.notAllowed, "featureId", "nothing unlocks this feature"))
        }
        guard let limit = feature.limit else { return .value(nil) }
        if let remaining = limit.remaining, remaining < 1 {
            return .refused(
                Refusal(
                    .overLimit,
                    "featureId",
                    "no use is left in this window",
                    // A window of no uses begins again with none.
                    resetsAt: limit.perPeriod?.count == 0 ? nil : limit.resetsAt
                )
            )
        }
        guard let perUse = limit.perUse else { return .value(limit) }
        if let unit, let limited = perUse.unit, !unit.isSame(as: limited) {
            return .refused(Refusal(.overLimit, "unit", "the limit of one use is in \(limited)"))
        }
        if (amount ?? 0) > perUse.amount {
            return .refused(Refusal(.overLimit, "amount", "one use takes at most \(perUse.amount)"))
        }
        return .value(limit)
    }

    /// What a use that was recorded before is told again.
    private func repeated(
        _ sequence: UInt64,
        of featureID: String,
        by customer: CustomerID,
        _ request: Request
    ) throws -> UseOutcome {
        var outcome = UseOutcome(receipt: .duplicate(of: sequence))
        // Erased since: there is nothing to tell of it.
        guard let used = try questions.event(at: sequence)?.event else { return outcome }
        func limit(knowing size: UInt64) throws -> CustomerState.LimitState? {
            try questions.timeline(of: customer, environment: request.environment, size: size)
                .state(at: used.time).features.first { $0.id.isSame(as: featureID) }?.limit
        }
        outcome.limit = try limit(knowing: questions.size())
        // By what was known when it was decided: the end that was told stands.
        outcome.endsAt = Self.leaseEnd(
            from: used.time,
            used.data.integer(.amount),
            try limit(knowing: sequence)
        )
        return outcome
    }

    /// Takes a use back (C5): what it took counts no more.
    ///
    /// - Returns: `known` for one that was taken back before; a refusal for an unknown one.
    public func reverseUse(
        _ useID: String,
        of customer: CustomerID,
        _ request: Request
    ) throws -> Receipt {
        let data = EventData(.usageReversed, [.useID: .text(useID)])
        return try decide(request, customer, data) { reader, _ in
            let named = try reader.facts(naming: useID, of: customer)
            guard named.contains(where: { $0.kind == .usageRecorded }) else {
                return .refused(
                    Refusal(.unknownUse, "useId", "the customer has no such use")
                )
            }
            return named.contains { $0.kind == .usageReversed } ? .known : .record
        }
    }
}

extension CustomerState.LimitState {
    /// The limit as one more use leaves it.
    fileprivate var afterOneMore: Self {
        var limit = self
        limit.remaining = remaining.map { $0 - 1 }
        return limit
    }
}
