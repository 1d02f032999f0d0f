import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import Presentation

/// What can be taken out of the ledger: what the route of exports gives (row 8.6).
extension PageTable {
    static let exportPages: [Route] = [
        .page(
            "/console/exports",
            "showExportsPage",
            "What can be taken out of the ledger.",
            [.support],
            parameters: [
                Route.Parameter(name: "customer", text: "Whose events", shape: .identifier),
                redactParameter,
            ],
            exports
        ),
        Route(
            method: .get,
            template: "/console/exports/{id}",
            operation: "exportCustomerFromPage",
            summary: "A customer's events with evidence, explanations and proofs, streamed.",
            access: .page([.support]),
            parameters: Call.pageParameters + [redactParameter, Route.reasonParameter],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "As the route of exports",
                    shape: .text,
                    mediaType: ExportMedia.lines.rawValue
                )
            ],
            isLogged: true,
            handler: export
        ),
    ]

    private static let redactParameter = Route.Parameter(
        name: "redact",
        text: "What is hidden (default: signatures)",
        shape: .choice(ExportRedaction.allCases.map(\.rawValue))
    )

    @Sendable
    private static func exports(_ call: Call, _ service: LedgerService) async throws -> Page {
        let redact = call.query["redact"] ?? ExportRedaction.signatures.rawValue
        var files: [(name: String, path: String)] = []
        if let customer = call.query[.customer] {
            guard CustomerID(customer) != nil else {
                throw Problem(.invalidValue, "expected a customer id", path: "customer")
            }
            let endings = [".ndjson", ".csv", ""]
            files = zip(ExportsPage.names(in: call.language), endings).map { name, ending in
                let format = ending.isEmpty ? "&" + PageFormat.exact : ""
                let link =
                    "/console/exports/\(customer.pathSegment)\(ending)?redact=\(redact.pathSegment)"
                let carried = call.carried([.environment])
                return (name, link + format + (carried.isEmpty ? "" : "&" + carried))
            }
        }
        let page = ExportsPage(
            language: call.language,
            chosen: call.chosen
                .merging(["redact": redact]) { first, _ in first },
            files: files,
            redactions: ExportRedaction.allCases.map(\.rawValue)
        )
        var body = XMLText()
        page.write(to: &body)
        return Page(
            title: ExportsPage.title(in: call.language),
            section: .exports,
            body: body,
            json: Array(
                JSONValue.members(["files": .strings(files.map(\.path))]).description.utf8
            ),
            command: "entitle export" + call.options([.customer])
        )
    }

    @Sendable
    private static func export(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let media: ExportMedia
        switch call.format {
        case .html: media = .page
        case .csv: media = .table
        case .json, .ndjson: media = .lines
        }
        var answer = try await RouteTable.export(media, call, service)
        // It is a file, and no page of the console's.
        answer.headers[.contentDisposition] = "attachment"
        return answer
    }
}
