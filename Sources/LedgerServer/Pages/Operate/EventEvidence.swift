import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Presentation
import Stores

extension PageTable {
    /// What is told of an event's evidence: by whom it is signed, and whether that holds (row 7.5).
    ///
    /// Nothing of its content is told. nil: it has none, or it does not open any more.
    static func judged(
        _ sequence: UInt64,
        _ service: LedgerService
    ) async throws -> EventPage.Evidence? {
        let (evidence, recorded) = try await service.blocking {
            let questions = service.ledger.questions
            return (
                try questions.evidence(of: sequence),
                try questions.firstEvent(ofEvidenceAt: sequence)
            )
        }
        guard let evidence, let recorded else { return nil }
        let verifier = StoredEvidenceVerifier(
            appStore: service.stores.appStore,
            playStore: service.stores.playStore
        )
        let verdict = await verifier.verdict(
            on: evidence,
            of: recorded.event,
            recordedAt: recorded.recordedAt
        )
        // Only whom a store names signs under names that are nobody's.
        let isStores =
            recorded.event.source == Source.appStore && recorded.event.environment != .local
        let chain = isStores ? SigningCertificate.chain(of: evidence) : []
        return EventPage.Evidence(
            verdict: verdict,
            certificates: chain.map {
                EventPage.Signer(
                    subject: $0.subject,
                    validFrom: $0.validFrom,
                    validUntil: $0.validUntil
                )
            }
        )
    }
}

extension EventPage {
    /// What the page says of evidence and repeats, as members of its JSON.
    var evidenceMembers: [JSONMember] {
        var members = [
            JSONMember("verdict", .optional(evidence?.verdict.word)),
            JSONMember(
                "certificates",
                .array(
                    (evidence?.certificates ?? []).map {
                        .members([
                            "subject": .string($0.subject),
                            "validFrom": .instant($0.validFrom),
                            "validUntil": .instant($0.validUntil),
                        ])
                    }
                )
            ),
        ]
        if isDecided {
            members.append(
                JSONMember("repeats", repeated.map { .integer($0.sequence) } ?? .null)
            )
        }
        return members
    }
}

extension EvidenceVerdict {
    fileprivate var word: String {
        switch self {
        case .verified: "verified"
        case .unsigned: "unsigned"
        case .unchecked: "unchecked"
        case .refused(let code): code
        }
    }
}
