import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// A whole population under another catalog (row Z3), and what differs between the two (row 7.4).
extension RouteTable {
    static let whatIfRoutes = [
        Route(
            method: .post,
            template: "/v1/whatif",
            operation: "askWhatIf",
            summary: "Who gains and who loses what at T by another catalog; records nothing.",
            access: .keys([.audit]),
            parameters: pointParameters + otherCatalogParameters,
            body: Route.Body(shape: .document("A catalog"), byteLimit: catalogByteLimit),
            answers: [Route.Reply(status: 200, text: "The answer", shape: .named("WhatIf"))],
            problems: questionProblems + [.invalidCatalog, .outOfRange],
            handler: whatIf
        ),
        Route(
            method: .post,
            template: "/v1/catalog/diff",
            operation: "compareCatalogs",
            summary: "What a catalog would change, and for whom; records nothing.",
            access: .keys([.audit]),
            parameters: pointParameters + otherCatalogParameters,
            body: Route.Body(shape: .document("A catalog"), byteLimit: catalogByteLimit),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "As `catalog diff`",
                    shape: .described(CatalogDifferenceAnswer.self)
                )
            ],
            problems: questionProblems + [.invalidCatalog, .outOfRange],
            handler: compareCatalogs
        ),
    ]

    private static let otherCatalogParameters = [
        Route.Parameter(
            name: "effective",
            text: "From when on the other catalog stands (default: T)",
            shape: .point
        ),
        Route.Parameter(
            name: "samples",
            text:
                "Gains, and losses, that are listed (default: \(WhatIfQuestion.usualSampleLimit))",
            shape: .field(.integer(0...Int64(WhatIfQuestion.mostSamples)))
        ),
    ]

    @Sendable
    private static func whatIf(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let question = try call.otherCatalogQuestion(try await call.catalog(service).read)
        try await service.require(call.minimumSequence())
        let answer = try await service.reports.make {
            try service.ledger.questions.whatIf(question)
        }
        return Answer(answer).at(size: answer.sequence)
    }

    @Sendable
    private static func compareCatalogs(
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        let (document, catalog) = try await call.catalog(service)
        let question = try call.otherCatalogQuestion(catalog)
        try await service.require(call.minimumSequence())
        let answer = try await service.reports.make {
            try service.ledger.questions.catalogDifference(to: document, question)
        }
        return Answer(answer).at(size: answer.affected.sequence)
    }
}

extension Call {
    /// How the catalog of a body is held against those of the log.
    fileprivate func otherCatalogQuestion(_ catalog: Catalog) throws(Problem) -> WhatIfQuestion {
        var question = WhatIfQuestion(
            catalog: catalog,
            point: try point(),
            environment: try environment(),
            effective: try query[.effective].map { text throws(Problem) in
                try instant(text, "effective")
            }
        )
        // Of customers and purchases only the names are hidden: how many they are is what is asked.
        question.isMasked = !caller.has(anyOf: [.read, .support])
        if let text = query[.samples] {
            guard let samples = Int(text) else {
                throw Problem(.invalidValue, "expected an integer", path: "samples")
            }
            guard (0...WhatIfQuestion.mostSamples).contains(samples) else {
                throw Problem(
                    .outOfRange,
                    "expected 0 to \(WhatIfQuestion.mostSamples)",
                    path: "samples"
                )
            }
            question.sampleLimit = samples
        }
        return question
    }

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
