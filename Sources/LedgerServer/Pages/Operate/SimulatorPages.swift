import Encodings
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

/// The simulated store beside a server, where there is one (Z7): elsewhere these routes do not exist.
extension PageTable {
    static let simulatorPages: [Route] = [
        .page(
            "/console/simulator",
            "showSimulatorPage",
            "What a simulated store sold, what can happen to it, and what the ledger was told.",
            [.admin],
            parameters: [
                Route.Parameter(
                    name: QueryName.search.rawValue,
                    text: "The customer whose purchases alone are shown"
                )
            ],
            simulator
        ),
        form(.buy, "Buys for a customer.", fields: ["customer", "product"]) {
            form,
            desk,
            address in
            guard let customer = CustomerID(form["customer"] ?? "") else {
                throw Problem(.invalidValue, "expected an id", path: "customer")
            }
            guard try await desk.buy(form["product"] ?? "", for: customer, telling: address)
            else { throw Problem(.invalidValue, "nothing is sold under this id", path: "product") }
        },
        form(.step, "Lets something happen to a purchase.", fields: ["purchase", "step"]) {
            form,
            desk,
            address in
            guard let step = SimulatorPage.Step(rawValue: form["step"] ?? "") else {
                throw Problem(.invalidValue, "there is no such step", path: "step")
            }
            guard try await desk.take(step, to: form["purchase"] ?? "", telling: address) else {
                throw Problem(.conflict, "it cannot happen to this purchase as it stands")
            }
        },
        form(.clock, "Turns the time ahead.", fields: ["ahead"]) { form, desk, address in
            guard let span = Int64(form["ahead"] ?? ""), SimulatorPage.spans.contains(span) else {
                throw Problem(.outOfRange, "expected a span that the page offers", path: "ahead")
            }
            try await desk.turn(by: span, telling: address)
        },
    ]

    /// Purchases that are shown at once.
    private static let purchaseLimit = 50

    private static func form(
        _ form: SimulatorPage.Form,
        _ summary: String,
        fields: [String],
        _ body:
            @escaping @Sendable (Query, any SimulatedStoreDesk, _ address: String) async throws
            -> Void
    ) -> Route {
        .form(
            "/console/simulator/" + form.rawValue,
            "\(form.rawValue)InSimulator",
            summary,
            .page([.admin]),
            fields: fields + [QueryName.search.rawValue],
            isLocal: true
        ) { call, sent, service in
            let desk = try desk(service)
            guard let address = service.address else {
                throw Problem(.notConfigured, "the server does not listen")
            }
            try await body(sent, desk, address)
            let search = sent[.search].map { [(QueryName.search, $0)] } ?? []
            // A session that began before the clock was turned may be over now: this one goes on.
            if call.session != nil, let secret = service.access.cookie(in: call.headers) {
                service.access.sessions.goOn(secret, at: service.clock())
            }
            return Answer.seeOther(call.link(["simulator"], search))
        }
    }

    private static func desk(_ service: LedgerService) throws(Problem) -> any SimulatedStoreDesk {
        guard let desk = service.simulator else {
            throw Problem(.notFound, "no simulated store stands beside this server")
        }
        return desk
    }

    @Sendable
    private static func simulator(_ call: Call, _ service: LedgerService) async throws -> Page {
        let search = call.query[.search].flatMap { CustomerID($0) }
        let state = try await desk(service).state(of: search, limit: purchaseLimit)
        var page = SimulatorPage(
            language: call.language,
            state: state,
            customer: { call.link(["customers", $0.text]) },
            event: { call.link(toEvent: $0) }
        )
        page.search = search?.text
        if let session = call.session {
            page.form = ({ call.link(["simulator", $0.rawValue]) }, session.formToken)
        }
        var body = XMLText()
        page.write(to: &body)
        let told = state.told.map(\.jsonValue)
        return Page(
            title: SimulatorPage.title(in: call.language),
            section: .simulator,
            body: body,
            json: Array(
                JSONValue.members([
                    "now": .instant(state.now), "ahead": .integer(state.ahead),
                    "purchases": .array(state.purchases.map(\.jsonValue)),
                    "told": .array(told),
                ])
                .description.utf8
            ),
            rows: Page.Rows(
                columns: ["at", "customer", "signal", "outcome", "sequence"],
                cells: told.map { ($0.members ?? []).map(\.value) }
            )
        )
    }
}

extension SimulatorPage.Purchase {
    fileprivate var jsonValue: JSONValue {
        .members([
            "customer": .string(customer.text), "id": .string(id), "product": .string(product),
            "standing": .string(standing.rawValue), "end": .instant(end),
        ])
    }
}

extension SimulatorPage.Told {
    fileprivate var jsonValue: JSONValue {
        .members([
            "at": .instant(at), "customer": .string(customer.text), "signal": .string(what),
            "outcome": .string(outcome),
            "sequence": sequence.map { .integer($0) } ?? .null,
        ])
    }
}
