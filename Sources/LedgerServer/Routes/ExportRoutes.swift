import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations
import Stores
import Synchronization

/// A customer's log for support (row 8.6).
extension RouteTable {
    static let exportRoutes = [
        Route(
            method: .get,
            template: "/v1/customers/{id}/export",
            operation: "exportCustomer",
            summary: "A customer's events with evidence, explanations and proofs, streamed.",
            access: .customer([.support]),
            parameters: pointParameters + [
                Route.Parameter(
                    name: "redact",
                    text: "What is hidden (default: signatures; of a customer's own: names)",
                    shape: .choice(ExportRedaction.allCases.map(\.rawValue))
                )
            ],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "Files as lines, {file, line}: `entitle check-export` verifies them",
                    shape: .text,
                    mediaType: ExportMedia.lines.rawValue
                ),
                Route.Reply(
                    status: 200,
                    text: "The events as a table",
                    shape: .text,
                    mediaType: ExportMedia.table.rawValue
                ),
                Route.Reply(
                    status: 200,
                    text: "A page to print",
                    shape: .text,
                    mediaType: ExportMedia.page.rawValue
                ),
            ],
            problems: questionProblems + [.unknownCustomer],
            isLogged: true,
            handler: export
        )
    ]

    @Sendable
    private static func export(_ call: Call, _ service: LedgerService) async throws -> Answer {
        try await export(call.preferred(ExportMedia.allCases), call, service)
    }

    /// A customer's export in a form.
    static func export(
        _ media: ExportMedia,
        _ call: Call,
        _ service: LedgerService
    ) async throws -> Answer {
        let question = try call.question()
        let isOwn = question.visibility == .own
        // A customer's own is redacted (Interfaces, "Who may").
        let least = isOwn ? ExportRedaction.names : .none
        var redaction = max(least, .signatures)
        if let word = call.query[.redact] {
            guard let named = ExportRedaction(rawValue: word) else {
                throw Problem(.invalidValue, "expected another word", path: "redact")
            }
            guard named >= least else {
                throw Problem(.forbidden, "a customer's own export hides names", path: "redact")
            }
            redaction = named
        }
        try await service.require(call.minimumSequence())
        return try await service.export(of: question, redaction, as: media)
    }
}

extension LedgerService {
    /// A customer's log on its way out.
    func export(
        of question: CustomerQuestion,
        _ redaction: ExportRedaction,
        as media: ExportMedia
    ) async throws -> Answer {
        let export = try await blocking { [ledger] in
            let plan = try ledger.exporter.exportPlan(
                of: question,
                redaction: redaction,
                formats: [media.format]
            )
            return try ledger.exporter.export(plan, reading: StoredEvidenceNames())
        }
        let stream = SharedExportStream(ExportStream(export, media.form))
        var answer = Answer(mediaType: media.rawValue) {
            try await self.blocking { try stream.next() }
        }
        answer.headers[.ledgerSequence] = String(export.plan.size)
        return answer
    }
}

/// The forms in which an export goes out.
enum ExportMedia: String, CaseIterable {
    case lines = "application/x-ndjson"
    case table = "text/csv"
    case page = "text/html"

    fileprivate var format: ExportFormat {
        switch self {
        case .lines: .ndjson
        case .table: .csv
        case .page: .html
        }
    }

    fileprivate var form: ExportStream.Form {
        switch self {
        case .lines: .bundle
        case .table: .file(ending: "events.csv")
        case .page: .file(ending: ".html")
        }
    }
}

/// A text on its way, of which one thread after the other takes a piece.
private final class SharedExportStream: Sendable {
    private let stream: Mutex<ExportStream>

    init(_ stream: consuming ExportStream) { self.stream = Mutex(stream) }

    func next() throws -> String? { try stream.withLock { try $0.next() } }
}
