package import EntitlementLedger
import Entitlements
import LedgerAPI

extension ProductLoad {
    /// Records of each load that failed that it did (row 1.5): `failure.recorded` of the store, which
    /// reports of errors count.
    ///
    /// `id`: of the loads; a repeat records nothing.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    package static func record(_ outcomes: [Outcome], id: String, in ledger: Ledger) throws {
        let submissions = outcomes.compactMap { outcome in
            outcome.fault.map { fault in
                Submission(
                    id: "products/\(id)/\(outcome.source.rawValue)",
                    source: Source.ledger,
                    environment: .production,
                    nature: .signal,
                    drafts: [Self.draft(fault, of: outcome.source)],
                    evidenceParts: nil
                )
            }
        }
        guard !submissions.isEmpty else { return }
        _ = try ledger.appender.record(submissions)
    }

    private static func draft(_ fault: ProductFault, of source: ProductSource) -> EventDraft {
        EventDraft(
            subject: .store(source.rawValue),
            time: fault.at,
            data: EventData(
                .failureRecorded,
                [
                    .errorCode: .text("products_" + fault.code.rawValue),
                    .retryable: .flag(fault.isTransient), .stage: .text("products"),
                    .detail: .text(fault.detail),
                ]
            )
        )
    }
}
