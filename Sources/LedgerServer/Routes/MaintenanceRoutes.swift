import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI
import LedgerOperations

/// What those who keep the ledger have done with all of it while a server holds it.
extension RouteTable {
    static let maintenanceRoutes = [
        Route(
            method: .post,
            template: "/v1/checkpoint",
            operation: "signCheckpoint",
            summary: "Signs the log's size and root now, or keeps what witnesses signed.",
            access: .keys([.admin]),
            body: Route.Body(
                shape: .object(
                    [],
                    optional: [
                        Shape.Member("cosignatures", .text),
                        Shape.Member("witnesses", .list(.text)),
                    ],
                    isClosed: true
                ),
                byteLimit: smallBodyLimit
            ),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "A signed note",
                    shape: .object([Shape.Member("checkpoint", .text)])
                )
            ],
            problems: [.badSignature, .invalidValue, .readOnly, .storageFull, .tooLarge],
            handler: sign
        ),
        Route(
            method: .post,
            template: "/v1/rebuild",
            operation: "rebuildViews",
            summary: "Writes the views anew from the log, beside the old, and switches at once.",
            access: .keys([.admin]),
            parameters: [environmentParameter],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "How many events they hold",
                    shape: .object([Shape.Member("events", .sequence)])
                )
            ],
            problems: [.readOnly, .storageFull],
            isLocal: true,
            handler: rebuild
        ),
        Route(
            method: .post,
            template: "/v1/sync",
            operation: "syncEverybody",
            summary: "Asks the stores about everybody, or a list, and appends what is missing.",
            access: .keys([.admin]),
            parameters: [environmentParameter],
            body: Route.Body(
                shape: .object(
                    [],
                    optional: [
                        Shape.Member("since", .instant), Shape.Member("again", .boolean),
                        Shape.Member("purchases", .list(.common(.purchaseName))),
                    ],
                    isClosed: true
                ),
                byteLimit: catalogByteLimit
            ),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "What the stores told; one that does not answer is told beside",
                    shape: .described(BackfillAnswer.self)
                )
            ],
            problems: appendProblems + [.notConfigured],
            isLong: true,
            handler: syncAll
        ),
    ]

    @Sendable
    private static func sign(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let body = try call.object("cosignatures", "witnesses")
        let note = try await service.blocking {
            guard body["cosignatures"] != nil else { return try service.ledger.prover.checkpoint() }
            return try cosigned(body, service.ledger)
        }
        return Answer(.members(["checkpoint": .string(note)]))
    }

    private static func cosigned(_ body: JSONValue, _ ledger: Ledger) throws -> String {
        do {
            let keys = try body.list("witnesses").map {
                try ProofFile.key($0.string ?? "", "witnesses", kind: .cosignature)
            }
            return try ledger.prover.addCosignatures(body.required("cosignatures"), of: keys)
        } catch let fault as OperationFault {
            throw Problem(.invalidValue, fault.message, path: fault.place)
        } catch let fault as NoteFault {
            throw Problem(.badSignature, fault.message, path: "cosignatures")
        }
    }

    @Sendable
    private static func rebuild(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let environment = try call.environment()
        let isEnded = service.isEnded
        let events = try await service.blocking {
            // Whoever begins again goes on where it was.
            let events = try service.ledger.auditor.rebuild { _, _ in
                if isEnded() { throw CancellationError() }
            }
            try service.ledger.identifiers.readAnew { if isEnded() { throw CancellationError() } }
            try service.ledger.reports.rollUp(environment)
            return events
        }
        return Answer(.members(["events": .integer(events)])).at(size: events)
    }

    @Sendable
    private static func syncAll(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let body = try call.object("since", "again", "purchases")
        guard !service.stores.clients.isEmpty else {
            throw Problem(.notConfigured, "no store's API is configured here")
        }
        let environment = try call.environment()
        guard body["purchases"] == nil else {
            let purchases = try body.list("purchases").map { text throws(Problem) in
                guard let name = text.string.flatMap({ PurchaseName($0) }) else {
                    throw Problem(
                        .invalidValue,
                        "a purchase is STORE/ORIGINAL_ID",
                        path: "purchases"
                    )
                }
                return name
            }
            return Answer(
                try await StoreBackfill(service.sync, in: environment)
                    .run(about: purchases, isInterrupted: service.isEnded) { _, _ in }
            )
        }
        guard body["again"] == nil || body["again"]?.bool != nil else {
            throw Problem(.invalidValue, "expected true or false", path: "again")
        }
        let since = try body["since"].map { since throws(Problem) in
            try call.instant(since.string ?? "", "since")
        }
        return Answer(
            try await service.backfill(
                in: environment,
                since: since,
                again: body["again"]?.bool == true
            )
        )
    }
}
