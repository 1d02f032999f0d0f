import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// A whole population under another catalog (row Z3).
extension RouteTable {
    static let whatIfRoutes = [
        Route(
            method: .post,
            template: "/v1/whatif",
            operation: "askWhatIf",
            summary: "Who gains and who loses what at T by another catalog; records nothing.",
            access: .keys([.audit]),
            parameters: pointParameters + [
                Route.Parameter(
                    name: "effective",
                    text: "From when on the other catalog stands (default: T)",
                    shape: .point
                )
            ],
            body: Route.Body(shape: .document("A catalog"), byteLimit: catalogByteLimit),
            answers: [Route.Reply(status: 200, text: "The answer", shape: .named("WhatIf"))],
            problems: questionProblems + [.invalidCatalog],
            handler: whatIf
        )
    ]

    @Sendable
    private static func whatIf(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let catalog = try await call.catalog(service)
        let question = WhatIfQuestion(
            catalog: catalog.read,
            point: try call.point(),
            environment: try call.environment(),
            effective: try call.query[.effective].map { text throws(Problem) in
                try call.instant(text, "effective")
            }
        )
        try await service.require(call.minimumSequence())
        return Answer(
            try await service.reports.make { try service.ledger.questions.whatIf(question) }
        )
    }
}

extension Call {
    /// The catalog of a body, its time zones resolved (K10): the document, and as it is read.
    ///
    /// Read away from the threads that serve connections: a body may have megabytes.
    func catalog(
        _ service: LedgerService
    ) async throws -> (document: JSONValue, read: Catalog) {
        try await service.blocking {
            let given = try json()
            guard case .object = given else { throw Problem(.malformed, "expected a JSON object") }
            let document = service.resolveTimeZones(given)
            do throws(InputFault) {
                return (document, try Catalog(document: document))
            } catch {
                throw Problem(catalog: error.all)
            }
        }
    }
}
