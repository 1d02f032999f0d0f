import Encodings
import LedgerAPI
import LedgerOperations
import LedgerServer

/// A server that an import's lines are handed to, a part at a time.
struct ImportingServer: ImportPlace {
    let client: ServerClient
    let options: Importer.Options

    func begin(_ lines: ImportedLines) throws -> ImportTurn {
        let batch = lines.batch
        guard batch.lines.reduce(0, { $0 + ($1.bytes?.count ?? 0) }) <= ImportBatch.byteLimit else {
            throw OperationFault(
                .tooLarge,
                "a document over several lines has at most \(ImportBatch.byteLimit) bytes beside a server",
                hint: "write its items a line each, as `jq -c '.[]'` does"
            )
        }
        return { try record(batch).items }
    }

    /// No lines ask for nothing but that.
    func size() throws -> UInt64 { try record(ImportBatch(lines: [])).sequence }

    private func record(_ batch: ImportBatch) throws -> ImportedBatch {
        let call = ServerCall.post(
            ["v1", "import"],
            [
                ("format", options.format.rawValue), ("onError", options.onError.rawValue),
                ("preserveRecordedTime", String(options.preservesRecordedTime)),
            ],
            written: AnswerText(batch)
        )
        return try client.answer(call, as: ImportedBatch.self)
    }
}
