import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

/// How a customer is found by what they read out (row 8.6).
extension PageTable {
    static let searchPages = [
        Route(
            method: .get,
            template: "/console/customers",
            operation: "searchCustomers",
            summary: "Finds a customer by an exact id.",
            access: .page([.read, .support]),
            parameters: Call.pageParameters + [
                Route.Parameter(name: QueryName.search.rawValue, text: "The id, whole")
            ],
            answers: [
                Route.Reply(status: 200, text: "The page", shape: .text, mediaType: "text/html"),
                Route.Reply(status: 303, text: "To the one customer that was found", shape: nil),
            ],
            handler: search
        )
    ]

    @Sendable
    private static func search(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let text = call.query[.search].map(Self.trimmed)
        let environment = try call.environment()
        var search = IdentifierSearch()
        if let text, !text.isEmpty {
            search = try await service.blocking {
                try service.ledger.questions.search(text, in: environment, at: call.now)
            }
        }
        let matches = search.matches
        let found = Set(matches.compactMap(\.customer))
        // Who is found is named, by the page or by where it leads: that is an access like any other.
        guard found.isEmpty || service.accesses.hasRoom else { throw Problem.accessesFull }
        for access in call.accesses(to: found.sorted(), in: environment, "searchCustomers", nil) {
            service.accesses.add(access)
        }
        if call.format == .html, found.count == 1, matches.allSatisfy({ $0.customer != nil }),
            let customer = found.first
        {
            return .seeOther(call.link(["customers", customer.text]))
        }
        let hits = matches.map { match in
            let customer = match.customer.map { ($0.text, call.link(["customers", $0.text])) }
            return switch match {
            case .customer(let id):
                SearchPage.Hit(kind: .customer, id: id.text, customer: customer)
            case .purchase(let name, _):
                SearchPage.Hit(kind: .purchase, id: name.description, customer: customer)
            case .transaction(let name, _):
                SearchPage.Hit(kind: .transaction, id: name.description, customer: customer)
            }
        }
        let rows = Page.Rows(
            columns: ["matched", "id", "customer"],
            cells: hits.map {
                [.string($0.kind.rawValue), .string($0.id), .optional($0.customer?.id)]
            }
        )
        var page = SearchPage(
            language: call.language,
            text: text.flatMap { $0.isEmpty ? nil : $0 },
            hits: hits,
            environment: environment.name
        )
        page.unread = search.unread
        page.carried = call.carriedPairs
        if PageTable.sections(of: call.caller, among: call.pages).contains(.deliveries) {
            page.deliveries = call.link(["deliveries"])
        }
        var body = XMLText()
        page.write(to: &body)
        return try call.answer(
            Page(
                title: PageFrame.Section.customers.name(in: call.language),
                section: .customers,
                body: body,
                json: Array(rows.json.description.utf8),
                rows: rows
            ),
            service
        )
    }

    /// Without what is copied along with an id.
    private static func trimmed(_ text: String) -> String {
        let blanks: Set<Unicode.Scalar> = [" ", "\t", "\n", "\r", "\u{3000}", "\u{A0}"]
        let scalars = text.unicodeScalars.drop { blanks.contains($0) }
        let end = scalars.lastIndex { !blanks.contains($0) }
        return end.map { String(scalars[...$0]) } ?? ""
    }
}
