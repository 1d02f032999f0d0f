import Encodings
import Entitlements
import HTTPTypes
import LedgerAPI

/// How the console is entered from the ledger's own machine.
extension RouteTable {
    static let consoleRoutes = [
        Route(
            method: .post,
            template: "/v1/console/links",
            operation: "makeConsoleLink",
            summary: "Makes a link that signs in to the console once, within a quarter of an hour.",
            access: .keys([.admin]),
            answers: [
                Route.Reply(
                    status: 201,
                    text: "The link, whole where the server knows its address",
                    shape: .object([
                        Shape.Member("path", .text), Shape.Member("url", .optional(.text)),
                        Shape.Member("expiresAt", .instant),
                    ])
                )
            ],
            handler: { call, service in
                // A key's link signs in as that key; the owner's as the console.
                let caller = call.caller == .owner ? .console : call.caller
                let link = service.access.sessions.makeLink(as: caller, at: call.now)
                return Answer(
                    status: 201,
                    .members([
                        "path": .string(link.path),
                        "url": service.address.map { .string($0 + link.path) } ?? .null,
                        "expiresAt": .string(link.end.description),
                    ])
                )
            }
        )
    ]
}
