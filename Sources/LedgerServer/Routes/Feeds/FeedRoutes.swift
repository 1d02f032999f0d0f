import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations

/// The log as CloudEvents, for whoever follows it (rows 8.5, 10.1).
extension RouteTable {
    static let feedRoutes = [
        Route(
            method: .get,
            template: "/v1/events",
            operation: "listEvents",
            summary: "The log's events in their order, a page at a time.",
            access: .keys([.read, .support, .audit]),
            parameters: [after, limit, Route.reasonParameter, minimumSequence] + eventFilters
                + bounds,
            answers: [feedReply],
            problems: feedProblems,
            handler: list
        ),
        Route(
            method: .get,
            template: "/v1/events/stream",
            operation: "streamEvents",
            summary: "The log's events as they are recorded, behind the last one that one has.",
            access: .keys([.read, .support, .audit]),
            parameters: [
                Route.Parameter(
                    name: after.name,
                    text: "The last event that one has (default: the log's last)",
                    shape: after.shape
                ),
                Route.Parameter(
                    name: "Last-Event-ID",
                    place: .header,
                    text:
                        "The last event that one has; goes before `after` (default: the log's last)",
                    shape: .sequence
                ),
                Route.Parameter(
                    name: "limit",
                    text: "Ends after so many events (default: when it is ended)",
                    shape: .field(.integer(1...Int64.max))
                ),
                Route.reasonParameter, minimumSequence,
            ] + eventFilters,
            answers: [
                Route.Reply(
                    status: 200,
                    text: "`id` is the sequence, `data` a CloudEvent; comments in silence",
                    shape: .text,
                    mediaType: "text/event-stream"
                )
            ],
            problems: feedProblems,
            handler: { try await stream($0, $1, tellsLooks: true) }
        ),
        Route(
            method: .get,
            template: "/v1/customers/{id}/events",
            operation: "listCustomerEvents",
            summary: "Events of a customer and of their purchases, a page at a time.",
            access: .keys([.read, .support]),
            parameters: [after, limit, environmentParameter, minimumSequence]
                + eventFilters.filter { !["customer", "environment"].contains($0.name) } + bounds,
            answers: [feedReply],
            problems: feedProblems,
            isLogged: true,
            handler: listOfCustomer
        ),
        Route(
            method: .post,
            template: "/v1/events",
            operation: "recordEvents",
            summary:
                "Appends CloudEvents, a JSON object a line or an array; needs ingest and write.",
            access: .keys([.ingest, .write]),
            body: Route.Body(
                shape: .list(.file("event", "A CloudEvent")),
                byteLimit: catalogByteLimit,
                lineTypes: ["application/x-ndjson", "application/ndjson", "application/jsonl"]
            ),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "What became of each event, in their order",
                    shape: .described(BatchAnswer.self)
                )
            ],
            problems: appendProblems,
            handler: record
        ),
    ]

    private static let feedProblems: [ProblemCode] = [.invalidValue, .unknownSequence]

    /// A batch of CloudEvents (cloudevents.io, JSON format 1.0.2, section 4).
    private static let batchType = "application/cloudevents-batch+json"

    private static let feedReply = Route.Reply(
        status: 200,
        text: "CloudEvents, ascending; `Link` with `rel=\"next\"` where there is more to look at",
        shape: .list(.file("event", "A CloudEvent")),
        mediaType: batchType
    )

    private static let after = Route.Parameter(
        name: "after",
        text: "The last event that the caller has (default: none)",
        shape: .sequence
    )
    private static let limit = Route.Parameter(
        name: "limit",
        text: "Events, at most (default: 100, at most 1000)",
        shape: .field(.integer(1...Int64(pageLimit)))
    )
    /// What events are chosen by.
    static let eventFilters = [
        Route.Parameter(name: "type", text: "Only events of this type", shape: .text),
        Route.Parameter(
            name: "customer",
            text: "Only events of this customer and of the purchases they claimed or owned",
            shape: .identifier
        ),
        Route.Parameter(
            name: "purchase",
            text: "Only events of this purchase: STORE/ORIGINAL_ID",
            shape: .text
        ),
        Route.Parameter(name: "source", text: "Only events of this source", shape: .text),
        Route.Parameter(
            name: "environment",
            text: "Only events of this environment (default: of all)",
            shape: environmentParameter.shape
        ),
    ]

    private static let bounds = [
        Route.Parameter(name: "to", text: "Only events before this sequence", shape: .sequence),
        Route.Parameter(name: "since", text: "Only what holds from then on", shape: .point),
        Route.Parameter(name: "until", text: "Only what held before", shape: .point),
        Route.Parameter(
            name: "raw",
            text: "Whether with the payload that each was read from (default: false)",
            shape: .boolean
        ),
    ]

    private static let pageLimit = 1000
    private static let standardPageLimit = 100

    /// Each event stands under its own id, and none is decided: what a store or an app said before.
    @Sendable
    private static func record(_ call: Call, _ service: LedgerService) async throws -> Answer {
        // Whoever may hand in whatever happened may do both.
        guard call.caller.has(.ingest), call.caller.has(.write) else {
            throw Problem(.forbidden, "needs both scopes, ingest and write")
        }
        let answer = try await service.blocking {
            let batch: EventBatch
            do throws(InputFault) {
                batch = try EventBatch(call.body)
            } catch {
                throw Problem(error)
            }
            return try batch.record(in: service.ledger, clock: service.clock)
        }
        return Answer(answer).at(size: answer.sequence)
    }

    @Sendable
    private static func list(_ call: Call, _ service: LedgerService) async throws -> Answer {
        try await service.require(call.minimumSequence())
        var filter = try call.feedFilter(from: call.first(service), to: call.query[.to])
        let reader = try call.reader(askingWith: &filter, "listEvents", service)
        return try await page(filter, for: reader, call, service)
    }

    @Sendable
    private static func listOfCustomer(
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        try await service.require(call.minimumSequence())
        var filter = try call.feedFilter(from: call.first(service), to: call.query[.to])
        filter.customer = try call.customer
        filter.environment = try call.environment()
        return try await page(filter, for: call.readerOfCustomer, call, service)
    }

    private static func page(
        _ filter: EventFilter,
        for reader: FeedReader,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        let limit = try call.feedLimit(upTo: pageLimit) ?? standardPageLimit
        let isRaw = try call.flag(.raw)
        guard !isRaw || reader == .everything else {
            throw Problem(.forbidden, "payloads are for whoever may see everything", path: "raw")
        }
        let page = try await service.blocking {
            try service.ledger.questions.feed(
                filter,
                for: reader,
                limit: limit,
                withEvidence: isRaw
            )
        }
        let text = "[" + page.events.map(\.text).joined(separator: ",") + "]"
        var answer = Answer(text: text, mediaType: batchType).at(size: page.size)
        // Fits: where it goes on, something was looked at.
        if page.goesOn, page.next < filter.sequences.upperBound {
            answer.headers[.link] = call.link(toPageAfter: page.next - 1)
        }
        return answer
    }

    /// Events as they are recorded.
    ///
    /// `tellsLooks`: whether of a customer who is named it is told, too, that somebody looked at them.
    static func stream(
        _ call: Call,
        _ service: LedgerService,
        tellsLooks: Bool
    ) async throws -> Answer {
        try await service.require(call.minimumSequence())
        let size = try service.ledger.questions.size()
        var filter = try call.feedFilter(from: call.firstOfStream(service))
        var reader = try call.reader(askingWith: &filter, "streamEvents", service)
        if !tellsLooks, filter.customer != nil { reader = .application }
        let limit = try call.feedLimit(upTo: .max) ?? .max
        let stream = EventStream(
            service,
            filter,
            for: reader,
            limit: limit,
            // A key that was revoked, and a session that is over, end what they began.
            mayGoOn: { service.access.stands(call, at: service.clock()) }
        )
        return Answer(mediaType: "text/event-stream") { try await stream.next() }.at(size: size)
    }
}
