import EntitlementLedger
import Entitlements
import LedgerAPI
import Presentation

/// Customers: how one is found, and what one has.
extension PageTable {
    static let customerPages: [Route] = [
        .page(
            "/console/customers/{id}",
            "showCustomerPage",
            "What a customer has, since when and why.",
            [.support, .audit],
            isLogged: true,
            customer
        )
    ]

    @Sendable
    private static func customer(_ call: Call, _ service: LedgerService) async throws -> Page {
        let question = try call.question()
        let (state, timeline) = try await service.blocking {
            (
                try service.ledger.questions.show(question),
                try service.ledger.questions.timelineAnswer(question)
            )
        }
        let id = try call.customer.text
        var body = XMLText()
        CustomerPage(
            language: call.language,
            state: state.answer,
            timeline: timeline.answer,
            explanation: { feature in
                call.link(
                    ["customers", id, "explain", feature],
                    carrying: [.environment, .lang, .at, .known]
                )
            }
        )
        .write(to: &body)
        return Page(
            title: id,
            section: .customers,
            body: body,
            json: state.text.bytes,
            size: state.question.sequence,
            command: "entitle show " + id
        )
    }
}
