import DurableFiles
import Entitlements
import LMDBStorage
import LedgerAPI
import LedgerOperations
import Synchronization

/// A file that several threads write JSON lines to; whole in the end, or as it was before.
final class LineFile: Sendable {
    private let output: Mutex<FileOutput>
    private let path: String

    /// Begins the file, for its owner only: lines may name people.
    init(_ path: String) throws {
        self.path = path
        output = Mutex(try OutputFile.open(path))
    }

    func write(_ answer: AnswerText) throws {
        try perform { try $0.write(answer.bytes + [UInt8(ascii: "\n")]) }
    }

    func close() throws { try perform { try $0.close() } }

    private func perform(_ body: (FileOutput) throws -> Void) throws {
        do {
            try output.withLock { try body($0) }
        } catch let fault as FileFault {
            throw OperationFault(writing: path, fault)
        }
    }
}
