import EntitlementLedger
package import LedgerAPI

/// Where the lines of an import go: into a ledger that is open here, or to the server that holds it.
package protocol ImportPlace: Sendable {
    /// Begins with lines while those before them are recorded.
    ///
    /// - Throws: `OperationFault` for what cannot be taken together.
    func begin(_ lines: ImportedLines) throws -> ImportTurn
    /// Events of the log.
    func size() throws -> UInt64
}

/// Records lines when their turn has come, and says what became of each item that they held, up to a refusal
/// that stops; called once.
package typealias ImportTurn = () throws -> [ImportedItem]

/// Lines that are recorded together.
package struct ImportedLines: Sendable {
    /// The lines, in their order.
    package let lines: [LineReader.Line]
    /// Whether the one line is a JSON document over several lines.
    package let isDocument: Bool

    init(_ lines: [LineReader.Line]) {
        self.lines = lines
        isDocument = false
    }

    init(document: [UInt8], at line: Int) {
        lines = [LineReader.Line(number: line, bytes: document)]
        isDocument = true
    }

    /// Takes what a server was handed.
    package init(_ batch: ImportBatch) {
        lines = batch.lines.map { LineReader.Line(number: $0.line, bytes: $0.bytes) }
        isDocument = batch.isDocument
    }

    /// The same, to be handed to a server.
    package var batch: ImportBatch {
        ImportBatch(
            lines: lines.map { ImportLine(line: $0.number, bytes: $0.bytes) },
            isDocument: isDocument
        )
    }
}
