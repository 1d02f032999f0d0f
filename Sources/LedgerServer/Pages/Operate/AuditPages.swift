import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Presentation

/// What audits found, and a new one (Z4, Z13).
extension PageTable {
    static let auditPages: [Route] = [
        .page(
            "/console/audit",
            "showAuditPage",
            "What audits found, what is signed, and a statement to print.",
            [.audit],
            audit
        ),
        .form(
            "/console/audit",
            "auditFromPage",
            "Audits the ledger, and shows what was found.",
            .page([.audit]),
            fields: ["scope"],
            isLocal: true,
            runAudit
        ),
    ]

    /// Checkpoints of the page.
    private static let checkpointLimit = 20

    @Sendable
    private static func audit(_ call: Call, _ service: LedgerService) async throws -> Page {
        let (size, checkpoints) = try await service.blocking {
            (
                try service.ledger.questions.size(),
                try service.ledger.prover.signedSizes(limit: checkpointLimit)
            )
        }
        let audits = service.metrics.audits.last
        var page = AuditBoardPage(
            language: call.language,
            origin: service.ledger.identity.origin,
            madeAt: call.now,
            size: size,
            audits: audits.map {
                AuditBoardPage.Audit(scope: "\($0.scope)", at: $0.at, answer: $0.answer)
            },
            checkpoints: checkpoints,
            path: { call.link(toEvent: $0) }
        )
        if let session = call.session {
            page.form = (
                AuditScope.allCases.map { "\($0)" }, call.link(["audit"]), session.formToken
            )
        }
        var body = XMLText()
        page.write(to: &body)
        return Page(
            title: AuditBoardPage.title(in: call.language),
            section: .audit,
            body: body,
            json: Array(json(size, audits, checkpoints).description.utf8),
            rows: Page.Rows(
                columns: ["scope", "at"] + AuditFault.columns,
                cells: audits.flatMap { audit in
                    audit.answer.faults.map { fault in
                        [.string("\(audit.scope)"), .instant(audit.at)] + fault.cells
                    }
                }
            ),
            size: size,
            command: "entitle audit"
        )
    }

    private static func json(
        _ size: UInt64,
        _ audits: [AuditCounters.Audit],
        _ checkpoints: [StatusAnswer.SignedSize]
    ) -> JSONValue {
        .members([
            "sequence": .integer(size),
            "audits": .array(
                audits.map { audit in
                    .members([
                        "scope": .string("\(audit.scope)"), "at": .instant(audit.at),
                        "audit": audit.answer.jsonValue,
                    ])
                }
            ),
            "checkpoints": .array(checkpoints.map(\.jsonValue)),
        ])
    }

    @Sendable
    private static func runAudit(
        _ call: Call,
        _ form: Query,
        _ service: LedgerService
    ) async throws -> Answer {
        let name = form[.scope] ?? ""
        guard let scope = AuditScope.allCases.first(where: { "\($0)" == name }) else {
            throw Problem(.invalidValue, "expected everything, hashes or quick", path: "scope")
        }
        _ = try await service.audit(scope, .asked)
        return .seeOther(call.link(["audit"]))
    }
}
