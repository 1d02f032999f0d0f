import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Presentation

/// What a customer has, and why (rows 4.4, 8.6, Z1, Z2).
extension PageTable {
    static let customerPages: [Route] = [
        .page(
            "/console/customers/{id}",
            "showCustomerPage",
            "What a customer has, since when and why.",
            [.read, .support],
            parameters: Call.dayParameters + [
                Route.Parameter(name: "done", text: "What a form did just now")
            ],
            isLogged: true,
            customer
        ),
        .page(
            "/console/customers/{id}/explain/{feature}",
            "explainFeaturePage",
            "Why a customer has or lacks a feature, step by step.",
            [.read, .support],
            parameters: [
                Route.Parameter(
                    name: "for",
                    text: "Who reads the sentences (default: support)",
                    shape: .choice(RouteTable.audiences)
                )
            ],
            isLogged: true,
            explanation
        ),
    ]

    @Sendable
    private static func customer(_ call: Call, _ service: LedgerService) async throws -> Page {
        let point = try call.pagePoint()
        let question = try call.question(at: point)
        try await service.require(call.minimumSequence())
        let language = call.language
        let link = try call.customerLink()
        let forms = CustomerForm.forms(of: call)
        let (page, state) = try await service.blocking {
            let questions = service.ledger.questions
            let state = try questions.show(question)
            let timeline = try questions.timelineAnswer(question).answer
            var page = CustomerPage(
                language: language,
                point: point,
                state: state.answer,
                timeline: timeline,
                link: link
            )
            page.answer = try answer(question, state.answer, timeline, language, questions)
            if point.known != .everything {
                var all = question
                all.point.knownAt = .everything
                page.later = try questions.timelineAnswer(all).answer.events.map(\.sequence)
                    .filter { $0 >= timeline.question.sequence }
            }
            page.forms = forms
            return (page, state)
        }
        var shown = page
        shown.carried = call.carriedPairs
        shown.done = call.query[.done].flatMap { CustomerForm(rawValue: $0) }
        let id = try call.customer.text
        shown.eraseCommand = "entitle erase \(id.shellWord) --confirm \(id.shellWord)"
        var body = XMLText()
        shown.write(to: &body)
        return Page(
            title: id,
            section: .customers,
            body: body,
            json: state.text.bytes,
            rows: Page.Rows(
                events: page.timeline.events,
                late: Set(page.timeline.late.map(\.sequence))
            ),
            size: state.question.sequence,
            command: "entitle show " + id.shellWord
        )
    }

    /// The feature whose access changed last, else the first that is open, else the first, explained.
    private static func answer(
        _ question: CustomerQuestion,
        _ state: StateAnswer,
        _ timeline: TimelineAnswer,
        _ language: Language,
        _ questions: Questions
    ) throws -> CustomerPage.Answer? {
        let change = LatestChange(timeline)
        let features = state.state.features
        let feature =
            change?.features.first
            ?? features.first { $0.value.isAllowed && $0.value.reason != .free }?.name
            ?? features.first { !$0.value.isAllowed }?.name ?? features.first?.name
        guard let feature,
            let told = try questions.explain(
                feature,
                question,
                to: [(.support, language)] + Language.allCases.map { (.customer, $0) }
            )
        else { return nil }
        return CustomerPage.Answer(
            explanation: told[0],
            forCustomer: Array(told.dropFirst()),
            changedAt: change?.at,
            others: Array((change?.features ?? []).dropFirst())
        )
    }

    @Sendable
    private static func explanation(_ call: Call, _ service: LedgerService) async throws -> Page {
        let point = try call.pagePoint()
        let question = try call.question(at: point)
        let feature = call.path[.feature] ?? ""
        let language = call.language
        let audience = try RouteTable.choice(call, "for") { Audience(rawValue: $0) } ?? .support
        try await service.require(call.minimumSequence())
        let found = try await service.blocking {
            let questions = service.ledger.questions
            let told = try questions.explain(
                feature,
                question,
                to: [(audience, language)] + Language.allCases.map { (.customer, $0) }
            )
            // Of the same prefix, whatever was recorded meanwhile.
            return try told.map { told in
                var asked = question
                asked.point.knownAt = .sequence(told[0].question.sequence)
                return (told: told, purchases: try questions.show(asked).answer.state.purchases)
            }
        }
        guard let (told, purchases) = found else {
            throw Problem(.unknownFeature, "no catalog lists such a feature", path: "feature")
        }
        let id = try call.customer.text
        var body = XMLText()
        ExplanationPage(
            language: language,
            point: point,
            explanation: told[0],
            purchases: purchases,
            forCustomer: Array(told.dropFirst()),
            audienceLink: { audience in
                let pairs = point.query.compactMap { pair in
                    QueryName(rawValue: pair.name).map { ($0, pair.value) }
                }
                return call.link(
                    ["customers", id, "explain", feature],
                    [(.audience, audience.rawValue)] + pairs
                )
            },
            link: try call.customerLink()
        )
        .write(to: &body)
        return Page(
            title: ExplanationWords.title(feature, in: language),
            section: .customers,
            body: body,
            json: AnswerText(told[0]).bytes,
            rows: Page.Rows(stepsOf: told[0]),
            size: told[0].question.sequence,
            command: "entitle explain \(id.shellWord) \(feature.shellWord)"
        )
    }
}

extension Page.Rows {
    /// Events, in the order of the log.
    ///
    /// `late`: those that were learned late; nil: each is judged by its own times.
    init(events: [ListedEvent], late: Set<UInt64>? = nil) {
        self.init(
            columns: [
                "sequence", "time", "recordedAt", "late", "type", "subject", "source", "details",
            ],
            cells: events.map { event in
                [
                    .integer(event.sequence), .instant(event.time), .instant(event.recordedAt),
                    .bool(late?.contains(event.sequence) ?? (event.late != nil)),
                    .string(event.type), .string(event.subject),
                    .optional(event.source), .string(event.details),
                ]
            }
        )
    }

    /// The steps of an explanation, in their order.
    fileprivate init(stepsOf explanation: ExplanationAnswer) {
        self.init(
            columns: ["time", "recordedAt", "sequence", "type", "rule", "effect", "text"],
            cells: explanation.steps.map { step in
                let mark = step.mark
                return [
                    .instant(mark.time), .instant(mark.recordedAt),
                    mark.sequence.map { .integer($0) } ?? .null, .optional(mark.type),
                    .optional(mark.rule?.rawValue), .string(step.effect.kind.rawValue),
                    .string(step.text),
                ]
            }
        )
    }
}
