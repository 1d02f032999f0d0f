import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import HTTPTypes
import LedgerAPI
import Presentation

/// The log's events, for people: those that the feed shows to the same key (rows 8.5, 10.1).
extension PageTable {
    static let eventPages: [Route] = [
        .page(
            "/console/events",
            "showEventsPage",
            "The log's events, the newest first.",
            eventScopes,
            parameters: eventFilters + [
                Route.Parameter(
                    name: "before",
                    text: "Only events before this one",
                    shape: .sequence
                ),
                Route.Parameter(
                    name: "after",
                    text: "Only events behind this one, the oldest of them",
                    shape: .sequence
                ),
                Route.reasonParameter,
            ],
            events
        ),
        // Before the page of an event, whose number this is not.
        Route(
            method: .get,
            template: "/console/events/stream",
            operation: "streamEventsPage",
            summary: "Tells a page that something was recorded.",
            access: .page(eventScopes),
            parameters: Call.pageParameters + eventFilters + [
                Route.Parameter(name: "after", text: "The last event that one has"),
                Route.Parameter(name: "limit", text: "Ends after so many events"),
                Route.Parameter(
                    name: "Last-Event-ID",
                    place: .header,
                    text: "The last event that one has",
                    shape: .sequence
                ),
                Route.reasonParameter,
            ],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "As the feed; of a customer who is named without looks at them",
                    shape: .text,
                    mediaType: "text/event-stream"
                )
            ],
            // A page that is told of something looks again, which is noted of a customer who is named: it would be
            // told of its own looks for ever.
            handler: { try await RouteTable.stream($0, $1, tellsLooks: false) }
        ),
        .page(
            "/console/events/{sequence}",
            "showEventPage",
            "An event: what it says, and what proves it.",
            eventScopes,
            parameters: eventFilters + [Route.reasonParameter],
            event
        ),
    ]

    private static let eventScopes: ScopeSet = [.read, .support, .audit]

    private static let eventFilters =
        RouteTable.eventFilters.filter { $0.name != "environment" } + [
            Route.Parameter(name: "from", text: "What held then or later", shape: .point),
            Route.Parameter(name: "to", text: "What held before", shape: .point),
        ]

    /// Events of one page.
    private static let eventLimit = 50

    /// What links among events carry.
    private static let carriedNames: [QueryName] = [
        .environment, .lang, .type, .customer, .purchase, .source, .from, .to,
    ]

    @Sendable
    private static func events(_ call: Call, _ service: LedgerService) async throws -> Page {
        let needsCustomer = !call.readsAll && call.query[.customer] == nil
        let latest =
            needsCustomer ? nil : try await chosenEvents(call, service, "showEventsPage")
        let events = latest?.events ?? []
        var page = EventListPage(
            language: call.language,
            events: events,
            chosen: call.chosen,
            path: { call.link(toEvent: $0.event.sequence) },
            subject: { call.link(toSubjectOf: $0) }
        )
        page.needsCustomer = needsCustomer
        if let latest, latest.goesOn {
            page.older = call.link(
                ["events"],
                [(.before, String(latest.next))],
                carrying: carriedNames
            )
        }
        let isNewest = call.query[.before] == nil && call.query[.after] == nil
        if !isNewest, let newest = events.first?.event.sequence {
            page.newer = call.link(
                ["events"],
                [(.after, String(newest))],
                carrying: carriedNames
            )
        }
        if isNewest, latest != nil {
            let names = carriedNames.filter { ![.from, .to].contains($0) }
            page.stream = call.link(["events", "stream"], carrying: names)
        }
        var body = XMLText()
        page.write(to: &body)
        return Page(
            title: EventListPage.title(in: call.language),
            section: .events,
            body: body,
            json: Array(
                ("[" + events.map { $0.event.jsonText.description }.joined(separator: ",") + "]")
                    .utf8
            ),
            rows: Page.Rows(events),
            size: latest?.size,
            command: "entitle events" + call.options([.customer, .purchase, .type, .source])
        )
    }

    /// The newest events that the query chooses, or those behind the one that it names.
    private static func chosenEvents(
        _ call: Call,
        _ service: LedgerService,
        _ operation: String
    ) async throws -> LatestEvents {
        var filter = try call.feedFilter(from: call.first(service))
        filter.environment = try call.environment()
        filter.times = try call.times()
        if let before = try call.query[.before].map({ text throws(Problem) in
            try Query.sequence(text, "before")
        }) {
            filter.sequences = min(filter.sequences.lowerBound, before)..<before
        }
        let reader = try call.reader(askingWith: &filter, operation, service)
        let isForward = call.query[.after] != nil
        return try await service.blocking { [filter] in
            var filter = filter
            if isForward {
                // The oldest of those behind it: where the feed's page ends, this one does.
                let page = try service.ledger.questions.feed(filter, for: reader, limit: eventLimit)
                filter.sequences = min(filter.sequences.lowerBound, page.next)..<page.next
            }
            var latest = try service.ledger.questions.latest(
                filter,
                for: reader,
                limit: eventLimit
            )
            if isForward { latest.olderStands(before: filter.sequences.lowerBound) }
            return latest
        }
    }

    @Sendable
    private static func event(_ call: Call, _ service: LedgerService) async throws -> Page {
        guard let sequence = UInt64(call.path[.sequence] ?? ""), sequence < .max else {
            throw Problem(.notFound)
        }
        var filter = try call.feedFilter(from: sequence)
        // Whoever has a number may not know where its event belongs.
        filter.environment = nil
        let reader = try call.reader(askingWith: &filter, "showEventPage", service)
        let seen = try await service.blocking { [filter] in
            try look(at: sequence, filter, reader, service.ledger.questions)
        }
        guard let found = seen.told else { throw Problem(.notFound, "there is no such event") }
        let mayProve = call.caller.has(.audit)
        var page = EventPage(language: call.language, told: found, mayProve: mayProve)
        if mayProve { page.proof = try await provenIfSigned(sequence, service) }
        do {
            page.evidence = try await judged(sequence, service)
        } catch  where error.isDamage {
            page.evidence = EventPage.Evidence(
                verdict: .refused(code: EventPage.Evidence.damage),
                certificates: []
            )
        }
        do {
            page.repeated = try await service.blocking {
                try service.ledger.questions.earlierEvent(ofSignalAt: sequence)
            }.map { ($0, call.link(toEvent: $0)) }
        } catch  where error.isDamage {
            page.isDecided = false
        }
        page.subject = call.link(toSubjectOf: found)
        page.previous = seen.previous.map { call.link(toEvent: $0) }
        page.next = seen.next.map { call.link(toEvent: $0) }
        var body = XMLText()
        page.write(to: &body)
        var members = (found.jsonValue.members ?? []) + page.evidenceMembers
        if mayProve { members.append(JSONMember("proof", page.proof?.jsonValue ?? .null)) }
        return Page(
            title: page.title,
            section: .events,
            body: body,
            json: Array(JSONValue.object(members).description.utf8),
            size: seen.size,
            command: "entitle events --raw --from \(sequence) --to \(sequence + 1)"
        )
    }

    /// An event and those beside it, as a reader is shown them.
    private struct SeenEvent {
        /// nil: there is none, or it is not shown.
        var told: ToldEvent?
        var previous: UInt64?
        var next: UInt64?
        /// The log's size.
        var size: UInt64
    }

    /// Looks at an event; what is damaged beside it hides nothing of it.
    private static func look(
        at sequence: UInt64,
        _ filter: EventFilter,
        _ reader: FeedReader,
        _ questions: Questions
    ) throws -> SeenEvent {
        func latest(_ sequences: Range<UInt64>) throws -> LatestEvents {
            var filter = filter
            filter.sequences = sequences
            return try questions.latest(filter, for: reader, limit: 1)
        }
        // Fits: it is below the largest number.
        let end = sequence + 1
        guard let found = try sound({ try latest(sequence..<end) }) else {
            throw Problem(
                .storage,
                "the record of event \(sequence) cannot be read: an audit says what is damaged"
            )
        }
        var behind = filter
        behind.sequences = end..<UInt64.max
        return SeenEvent(
            told: found.events.first,
            previous: try sound { try latest(0..<sequence).events.first?.event.sequence },
            next: try sound {
                try questions.feed(behind, for: reader, limit: 1).events.first?.sequence
            },
            size: found.size
        )
    }

    /// What is read; nil where it is damaged.
    private static func sound<Value>(_ read: () throws -> Value?) throws -> Value? {
        do { return try read() } catch  where error.isDamage { return nil }
    }

    /// The proof of an event; nil: no checkpoint holds it.
    private static func provenIfSigned(
        _ sequence: UInt64,
        _ service: LedgerService
    ) async throws -> RecordProofAnswer? {
        do {
            return try await RouteTable.proof(of: sequence, service)
        } catch let problem as Problem where problem.code == .notFound {
            return nil
        }
    }
}

extension Error {
    /// Whether it says that bytes are not what was recorded.
    fileprivate var isDamage: Bool {
        switch self {
        case let fault as LogStorageFault: fault.code == .damaged
        case let fault as DecodingFault: !fault.isNewer
        default: false
        }
    }
}

extension Call {
    /// The page of an event.
    func link(toEvent sequence: UInt64) -> String {
        // Support sees an event as one of the customer's whom it named.
        link(["events", String(sequence)], carrying: [.environment, .lang, .customer])
    }

    /// The page of the customer whom an event is about, or of who has the purchase; nil: whoever asks sees
    /// none.
    func link(toSubjectOf told: ToldEvent) -> String? {
        guard caller.has(anyOf: [.support, .audit]) else { return nil }
        switch Subject(told.event.subject) {
        case .customer(let customer): return link(["customers", customer.text])
        case .purchase(let purchase): return link(["customers"], [(.search, purchase.description)])
        case .store, .catalog, nil: return nil
        }
    }

    /// From when to when something held; nil: ever.
    fileprivate func times() throws(Problem) -> Interval? {
        guard query[.from] != nil || query[.to] != nil else { return nil }
        let start = try query[.from].map { text throws(Problem) in try instant(text, "from") }
        let end = try query[.to].map { text throws(Problem) in try instant(text, "to") }
        return Interval(start: start ?? Instant(milliseconds: .min), end: end)
    }

    /// The options of a command that say the same as parameters.
    func options(_ names: [QueryName]) -> String {
        names.compactMap { name in
            query[name].map { " --\(name.option) '\($0.replacing("'", with: "'\\''"))'" }
        }.joined()
    }
}

extension Page.Rows {
    /// Events, one a row.
    fileprivate init(_ events: [ToldEvent]) {
        self.init(
            columns: [
                "sequence", "recorded", "effective", "type", "sentence", "subject", "source", "id",
                "environment",
            ],
            cells: events.map { told in
                let event = told.event
                return [
                    .number(String(event.sequence)), .string(event.recordedAt.description),
                    .string(event.time.description), .string(event.type),
                    .string(told.sentence), .string(event.subject),
                    event.source.map { .string($0) } ?? .null,
                    event.id.map { .string($0) } ?? .null,
                    event.environment.map { .string($0.name) } ?? .null,
                ]
            }
        )
    }
}
