import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI

/// What is sold and what it unlocks.
extension RouteTable {
    static let catalogRoutes = [
        Route(
            method: .get,
            template: "/v1/catalog",
            operation: "readCatalog",
            summary: "The catalog in force at T, as known at R.",
            access: .keys([.read, .support]),
            parameters: pointParameters.filter { $0.name != "environment" },
            answers: replies(.document("A catalog")),
            problems: questionProblems + [.notFound],
            handler: read
        ),
        Route(
            method: .post,
            template: "/v1/catalog",
            operation: "publishCatalog",
            summary: "Publishes a catalog from an effective time on.",
            access: .keys([.admin]),
            parameters: [
                Route.Parameter(
                    name: "effective",
                    text: "From when it holds (default: now)",
                    shape: .field(.instant)
                ),
                dryRunParameter, idempotencyKey,
            ],
            body: Route.Body(shape: .document("A catalog"), byteLimit: catalogByteLimit),
            answers: [receiptReply],
            problems: appendProblems + [.invalidCatalog],
            handler: publish
        ),
    ]

    static let catalogByteLimit = 4 << 20

    @Sendable
    private static func read(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let point = try call.point()
        try await service.require(call.minimumSequence())
        let (document, size) = try await service.looking(at: point) { ledger in
            try ledger.questions.catalogDocument(at: point)
        }
        guard let document else { throw Problem(.notFound, "no catalog was published yet") }
        return revalidated(Answer(document).at(size: size))
    }

    @Sendable
    private static func publish(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let document = try await call.catalog(service).document
        let effective = try call.query[.effective].map { text throws(Problem) in
            guard let instant = Instant(rfc3339: text), instant.isPlausible else {
                throw Problem(.invalidValue, "expected an instant (RFC 3339)", path: "effective")
            }
            return instant
        }
        let request = try call.request(service, source: Source.catalog, environment: .production)
        return try await record(call, request, service, about: nil) { ledger in
            try ledger.appender.publish(document, effective: effective, request)
        }
    }
}

extension Problem {
    /// Every fault of a catalog at once (K10).
    init(catalog faults: [InputFault]) {
        self.init(.invalidCatalog, "\(faults.count) faults")
        self.faults = faults.map { CatalogFaultAnswer($0) }
    }
}
