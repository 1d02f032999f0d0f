package import EntitlementLedger
package import Entitlements
package import LedgerAPI
package import Stores

/// A replay as somebody asks for it: of everything, or an auditor's (row 7.4).
package struct ReplayRun: Sendable {
    private let point: BitemporalPoint
    private let environment: StoreEnvironment
    private let customer: CustomerID?
    private let hasTokens: Bool

    /// The next token, nil for what is none, and who is meant; nil at the end.
    package typealias NextToken =
        () throws -> (token: DecisionToken?, customer: CustomerID?)?

    /// Says what is asked for.
    ///
    /// `customer`: nil: everybody. `hasTokens`: whether decision tokens are asked again.
    package init(
        at point: BitemporalPoint,
        in environment: StoreEnvironment,
        of customer: CustomerID?,
        hasTokens: Bool
    ) {
        self.point = point
        self.environment = environment
        self.customer = customer
        self.hasTokens = hasTokens
    }

    /// Whether a prefix, a customer or tokens are named: then the answers of then are made from the log alone.
    private var isForAuditor: Bool { customer != nil || hasTokens || point.knownAt != .everything }

    /// Reads the log, and compares.
    ///
    /// Cost: one pass over the prefix; memory grows with its events.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`; what `next` throws.
    package func run(
        _ auditor: Auditor,
        judging verifier: StoredEvidenceVerifier,
        tokens next: NextToken,
        progress: (_ done: UInt64, _ of: UInt64) -> Void = { _, _ in }
    ) throws -> ReplayAnswer {
        guard isForAuditor else {
            return try auditor.replay(point: point, environment: environment, progress: progress)
        }
        let replay = try auditor.replay(knownAt: point.knownAt)
        var answer = try replay.answers(
            at: point.at,
            environment: environment,
            customer: customer,
            progress: progress
        )
        answer.evidence = try replay.evidence(
            of: customer,
            environment: environment,
            { evidence, event, recordedAt in
                Blocking.wait {
                    await verifier.verdict(on: evidence, of: event, recordedAt: recordedAt)
                }
            },
            progress: progress
        )
        if hasTokens { answer.tokens = try replay.tokens(next) }
        return answer
    }
}
