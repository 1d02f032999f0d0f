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
                )
            ],
            isLogged: true,
            difference
        )
    ]

    @Sendable
    private static func difference(_ call: Call, _ service: LedgerService) async throws -> Page {
        let (from, to) = try call.comparedPoints()
        let question = DifferenceQuestion(
            customer: try call.customer,
            environment: try call.environment(),
            from: from.point,
            to: to.point
        )
        try await service.require(call.minimumSequence())
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
