import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// How a customer is led to their own pages.
extension RouteTable {
    static let pageLinkRoutes = [
        Route(
            method: .post,
            template: "/v1/customers/{id}/page-links",
            operation: "makePageLinks",
            summary: "Makes links that lead a customer to their own pages, for a day.",
            access: .customer(CustomerTicket.linkScopes),
            parameters: [environmentParameter],
            answers: [
                Route.Reply(
                    status: 201,
                    text: "Each link, whole where the server knows its address",
                    shape: .object([
                        Shape.Member(
                            "links",
                            .list(
                                .object([
                                    Shape.Member("page", .choice(pages)),
                                    Shape.Member("path", .text),
                                    Shape.Member("url", .optional(.text)),
                                ])
                            )
                        ),
                        Shape.Member("expiresAt", .instant),
                    ])
                )
            ],
            problems: [.notConfigured],
            isLogged: true,
            handler: makePageLinks
        )
    ]

    private static let pages = ["history", "account", "paywall"]

    @Sendable
    private static func makePageLinks(
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        guard let tickets = service.pageTickets else {
            throw Problem(.notConfigured, "the ledger's key is not at hand")
        }
        let ticket = CustomerTicket(
            customer: try call.customer,
            environment: try call.environment(),
            keyID: call.caller.keyID,
            end: call.now.advanced(byMilliseconds: CustomerTicket.linkLifetime)
        )
        let text = try tickets.text(of: ticket)
        let links = pages.map { page in
            let path = "/\(page)?ticket=\(text)"
            return JSONValue.members([
                "page": .string(page), "path": .string(path),
                "url": service.address.map { .string($0 + path) } ?? .null,
            ])
        }
        return Answer(
            status: 201,
            .members(["links": .array(links), "expiresAt": .instant(ticket.end)])
        )
    }
}

extension CustomerTicket {
    /// How long a link lets a customer in.
    static let linkLifetime = Instant.millisecondsPerDay
    /// Who may make one beside the customer.
    static let linkScopes: ScopeSet = [.write, .support]
}
