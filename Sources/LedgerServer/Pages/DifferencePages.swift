import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Presentation

/// What differs for a customer between two points (rows 8.6, Z1).
extension PageTable {
    static let differencePages: [Route] = [
        .page(
            "/console/customers/{id}/diff",
            "compareStatesPage",
            "What differs for a customer between two points: what was told then, and what is known now.",
            [.read, .support],
            parameters: RouteTable.secondPointParameters + [
                Route.Parameter(
                    name: "told",
                    text: "When the app was told: compared with the same instant as known now",
                    shape: .point
                ),
                Route.Parameter(
                    name: "event",
                    text:
                        "An event of the timeline at the first point: before it was known, and with it, when it "
                        + "held",
                    shape: .sequence
                ),
            ],
            isLogged: true,
            difference
        )
    ]

    @Sendable
    private static func difference(_ call: Call, _ service: LedgerService) async throws -> Page {
        try await service.require(call.minimumSequence())
        let (from, to) = try await call.pointsAroundEvent(service) ?? call.comparedPoints()
        let question = DifferenceQuestion(
            customer: try call.customer,
            environment: try call.environment(),
            from: from.point,
            to: to.point
        )
        let written = try await service.blocking {
            try service.ledger.questions.difference(question)
        }
        var page = DifferencePage(
            language: call.language,
            from: from,
            to: to,
            answer: written.answer,
            link: try call.customerLink()
        )
        page.carried = call.carriedPairs
        var body = XMLText()
        page.write(to: &body)
        let id = try call.customer.text
        return Page(
            title: DifferenceWords.title(id, in: call.language),
            section: .customers,
            body: body,
            json: written.text.bytes,
            rows: Page.Rows(events: written.answer.events),
            size: written.answer.to.sequence,
            command: "entitle diff " + id.shellWord
        )
    }
}

extension Call {
    /// Before an event of the timeline was known, and with it, at the instant when it held; nil: the query names
    /// none.
    ///
    /// Cost: the timeline, in which alone whoever asks may see when that was.
    fileprivate func pointsAroundEvent(
        _ service: LedgerService
    ) async throws -> (from: PagePoint, to: PagePoint)? {
        guard let text = query[.event], !text.isEmpty else { return nil }
        let sequence = try Query.sequence(text, QueryName.event.rawValue)
        let question = try question(at: try pagePoint())
        let event = try await service.blocking {
            try service.ledger.questions.timelineAnswer(question).answer.events.first {
                $0.sequence == sequence
            }
        }
        guard let event else {
            throw Problem(.notFound, "the customer's timeline has no such event")
        }
        let before = PagePoint(at: event.time, known: .sequence(sequence), now: now)
        // Fits: the log has the event.
        return (before, before.known(.sequence(sequence + 1)))
    }

    /// Two points: those of the query, or when something was told, as known then and as known now.
    fileprivate func comparedPoints() throws(Problem) -> (from: PagePoint, to: PagePoint) {
        if let told = try formInstant(.told) {
            let then = PagePoint(at: told, known: .instant(told), now: now)
            return (then, then.known(.everything))
        }
        let from = try pagePoint()
        var to = from.known(.everything)
        if let at = try formInstant(.toAt) { to.at = at }
        if query[.toAt] == "now" { to.at = nil }
        if let known = try formInstant(.toKnown) {
            to.known = .instant(known)
        } else if let text = query[.toKnownSequence], !text.isEmpty {
            to.known = .sequence(
                try Query.sequence(text, QueryName.toKnownSequence.rawValue)
            )
        }
        return (from, to)
    }
}
