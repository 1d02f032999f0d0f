import Encodings
import EntitlementLedger
import Entitlements
import HTTPTypes
import LedgerAPI
import LedgerOperations

/// Lines of an import: what the command hands in where a server holds the ledger.
extension RouteTable {
    static let importRoutes = [
        Route(
            method: .post,
            template: "/v1/import",
            operation: "importLines",
            summary: "Appends signals and events of an import's lines, a part at a time.",
            access: .keys([.admin]),
            parameters: [
                Route.Parameter(
                    name: "format",
                    text: "What lines are (default: each by what it looks like)",
                    shape: .choice(ImportFormat.allCases.map(\.rawValue))
                ),
                Route.Parameter(
                    name: "onError",
                    text: """
                        What a refused item does (default: stop); with quarantine it is told what \
                        it was
                        """,
                    shape: .choice(Importer.OnError.allCases.map(\.rawValue))
                ),
                Route.Parameter(
                    name: "preserveRecordedTime",
                    text: "Whether the recordedtime that events carry is kept (default: false)",
                    shape: .boolean
                ),
            ],
            body: Route.Body(shape: .described(ImportBatch.self), byteLimit: importByteLimit),
            answers: [
                Route.Reply(
                    status: 200,
                    text: "What became of each, up to a refusal that stops",
                    shape: .described(ImportedBatch.self)
                )
            ],
            problems: appendProblems,
            isLong: true,
            handler: importLines
        )
    ]

    /// Room for the lines of a batch in base64, and for what stands around them.
    private static let importByteLimit = ImportBatch.byteLimit / 3 * 4 + (2 << 20)

    @Sendable
    private static func importLines(_ call: Call, _ service: LedgerService) async throws -> Answer {
        var options = Importer.Options()
        options.format = try call.choice(.format) ?? .auto
        options.onError = try call.choice(.onError) ?? .stop
        options.preservesRecordedTime = try call.flag(.preserveRecordedTime)
        options.appStore = service.stores.appStore
        options.playStore = service.stores.playStore
        options.clock = service.clock
        let place = ImportedLedger(service.ledger, options, isFromOutside: call.caller != .owner)
        let answer = try await service.appending {
            let lines = ImportedLines(try call.batch())
            return ImportedBatch(items: try place.begin(lines)(), sequence: try place.size())
        }
        return Answer(answer).at(size: answer.sequence)
    }
}

extension Call {
    /// A parameter that is one of some words; nil: it was not sent.
    fileprivate func choice<Word: RawRepresentable<String>>(
        _ name: QueryName
    ) throws(Problem) -> Word? {
        guard let text = query[name] else { return nil }
        guard let word = Word(rawValue: text) else {
            throw Problem(.invalidValue, "no such word", path: name.rawValue)
        }
        return word
    }

    fileprivate func batch() throws -> ImportBatch {
        let batch: ImportBatch
        do {
            batch = try ImportBatch.fields.read(json())
        } catch let fault as InputFault {
            throw Problem(fault)
        }
        let count = batch.lines.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
        guard count <= ImportBatch.byteLimit else {
            throw Problem(.tooLarge, "lines have at most \(ImportBatch.byteLimit) bytes together")
        }
        return batch
    }
}
