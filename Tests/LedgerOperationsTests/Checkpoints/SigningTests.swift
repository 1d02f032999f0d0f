import DurableFiles
import EntitlementLedger
import Glibc
import LedgerOperations
import Testing

/// Checkpoints of a ledger that is opened for them.
struct `A checkpoint that is as new as can be` {
    /// Opens a ledger to be read, on a file system that gives an error to whoever would write.
    private static func open(_ ledger: FileLedger, _ code: Int32) throws -> (OpenLedger, [String]) {
        var warnings: [String] = []
        let open = try Signing.openCheckpointed(warn: { warnings.append($0) }) { writing in
            if writing { throw FileFault(code, "open") }
            var options = FileLedger.options
            options.isReadOnly = true
            return try OpenLedger(at: ledger.path, options: options)
        }
        return (open, warnings)
    }

    @Test func `is the last one that was signed where the file system is read-only`() throws {
        try FileLedger.with { ledger throws in
            let (open, warnings) = try Self.open(ledger, EROFS)
            #expect(warnings == ["no new checkpoint: the ledger's file system is read-only"])
            #expect(try open.ledger.questions.size() == 1)
            try open.close()
            // The control: whoever may not write is told.
            #expect(throws: FileFault.self) { _ = try Self.open(ledger, EACCES) }
        }
    }
}
