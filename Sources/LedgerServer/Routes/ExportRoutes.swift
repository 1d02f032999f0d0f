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
                ), formatParameter(streamedFormats),
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
        ),
        Route(
            method: .get,
            template: "/v1/export",
            operation: "exportLog",
            summary: "A range of the log with evidence and proofs, or all of it, streamed.",
            access: .keys([.audit]),
            parameters: [
                Route.Parameter(
                    name: "from",
                    text: "A sequence, or the instant from which on it was recorded (default: 0)"
                ),
                Route.Parameter(
                    name: "to",
                    text: "The first behind the range, as from (default: the log's end)"
                ),
                Route.Parameter(
                    name: "redact",
                    text: "What is hidden (default: all; keys of audit are shown nothing less)",
                    shape: .choice(ExportRedaction.allCases.map(\.rawValue))
                ), formatParameter(rangeFormats), minimumSequence,
            ],
            answers: [
                Route.Reply(
                    status: 200,
                    text: "Files as lines, {file, line}: `entitle check-export` verifies them",
                    shape: .text,
                    mediaType: ExportMedia.lines.rawValue
                )
            ],
            problems: [.invalidValue, .emptyRange],
            handler: exportLog
        ),
    ]

    /// What goes out in lines: a database is made where the ledger is.
    fileprivate static let streamedFormats = ExportFormat.allCases.filter { $0 != .sqlite }
    /// A page is of one customer.
    private static let rangeFormats = streamedFormats.filter { $0 != .html }

    private static func formatParameter(_ formats: [ExportFormat]) -> Route.Parameter {
        let word = "(\(formats.map(\.rawValue).joined(separator: "|")))"
        return Route.Parameter(
            name: "format",
            text: "The files among the lines, parted by commas (default: ndjson)",
            shape: .pattern("^\(word)(,\(word))*$")
        )
    }

    @Sendable
    private static func exportLog(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let redaction = try call.redaction() ?? .all
        // As in the feed: who may only audit is shown no name.
        guard redaction == .all || call.caller.has(.admin) else {
            throw Problem(.forbidden, "a key of audit is shown redact=all", path: "redact")
        }
        let (from, to) = (try call.bound(.from), try call.bound(.to))
        let formats = try call.formats(among: rangeFormats)
        try await service.require(call.minimumSequence())
        return try await service.export(as: .lines) { ledger in
            let start = try from.map { try $0.sequence(in: ledger) } ?? 0
            let end = try to.map { try $0.sequence(in: ledger) } ?? ledger.questions.size()
            return try ledger.exporter.exportPlan(
                of: start..<max(start, end),
                redaction: redaction,
                formats: formats ?? [.ndjson]
            )
        }
    }

    @Sendable
    private static func export(_ call: Call, _ service: LedgerService) async throws -> Answer {
        let media = call.preferred(ExportMedia.allCases)
        let formats = try call.formats(among: streamedFormats)
        guard formats == nil || media == .lines else {
            throw Problem(.invalidValue, "of lines; else Accept says it", path: "format")
        }
        return try await export(media, call, service, formats: formats)
    }

    /// A customer's export in a form.
    ///
    /// `formats`: those of its files among lines; nil: the usual one.
    static func export(
        _ media: ExportMedia,
        _ call: Call,
        _ service: LedgerService,
        formats: [ExportFormat]? = nil
    ) async throws -> Answer {
        let question = try call.question()
        let isOwn = question.visibility == .own
        // A customer's own is redacted (Interfaces, "Who may").
        let least = isOwn ? ExportRedaction.names : .none
        var redaction = max(least, .signatures)
        if let named = try call.redaction() {
            guard named >= least else {
                throw Problem(.forbidden, "a customer's own export hides names", path: "redact")
            }
            redaction = named
        }
        try await service.require(call.minimumSequence())
        return try await service.export(of: question, redaction, formats, as: media)
    }
}

extension LedgerService {
    /// A customer's log on its way out.
    func export(
        of question: CustomerQuestion,
        _ redaction: ExportRedaction,
        _ formats: [ExportFormat]? = nil,
        as media: ExportMedia
    ) async throws -> Answer {
        try await export(as: media) { ledger in
            try ledger.exporter.exportPlan(
                of: question,
                redaction: redaction,
                formats: formats ?? [media.format]
            )
        }
    }

    /// What is planned on its way out.
    fileprivate func export(
        as media: ExportMedia,
        _ plan: @escaping @Sendable (Ledger) throws -> ExportPlan
    ) async throws -> Answer {
        let export = try await blocking { [ledger] in
            try ledger.exporter.export(plan(ledger), reading: StoredEvidenceNames())
        }
        let stream = SharedExportStream(ExportStream(export, media.form))
        var answer = Answer(mediaType: media.rawValue) {
            try await self.blocking { try stream.next() }
        }
        answer.headers[.ledgerSequence] = String(export.plan.size)
        return answer
    }
}

extension Call {
    /// What is to be hidden; nil: it is not said.
    fileprivate func redaction() throws(Problem) -> ExportRedaction? {
        guard let word = query[.redact] else { return nil }
        guard let redaction = ExportRedaction(rawValue: word) else {
            throw Problem(.invalidValue, "expected another word", path: "redact")
        }
        return redaction
    }

    /// The forms of the files; nil: they are not said.
    fileprivate func formats(among known: [ExportFormat]) throws(Problem) -> [ExportFormat]? {
        guard let text = query[.format] else { return nil }
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        return try words.map { word throws(Problem) in
            guard let format = ExportFormat(rawValue: String(word)), known.contains(format) else {
                let names = known.map(\.rawValue).joined(separator: ", ")
                throw Problem(.invalidValue, "expected some of \(names)", path: "format")
            }
            return format
        }
    }

    /// An end of a range; nil: it is not said.
    fileprivate func bound(_ name: QueryName) throws(Problem) -> RangeBound? {
        guard let text = query[name] else { return nil }
        if let sequence = UInt64(text) { return .sequence(sequence) }
        return .recorded(from: try instant(text, name.rawValue))
    }
}

/// An end of a range of the log.
private enum RangeBound: Sendable {
    case sequence(UInt64)
    /// The first that was recorded at or after an instant.
    case recorded(from: Instant)

    func sequence(in ledger: Ledger) throws -> UInt64 {
        switch self {
        case .sequence(let sequence): sequence
        case .recorded(let instant): try ledger.exporter.firstSequence(recordedFrom: instant)
        }
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
