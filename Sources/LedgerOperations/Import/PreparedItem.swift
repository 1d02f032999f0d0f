import Dispatch
import EntitlementLedger
import Synchronization

/// One item of an import, whose turn has come or will come.
struct PreparedItem {
    var line: Int
    /// What the line was taken for; nil: it could not be told.
    var format: ImportFormat?
    var result: ImportResult<DecidedSubmission>
    /// What was read; nil where it was too long to be kept.
    var bytes: [UInt8]?
}

/// Makes items ready to be recorded.
struct ItemPreparation: Sendable {
    let ledger: Ledger
    let preservesRecordedTime: Bool
    /// The links of the batch that it prepares.
    let links = BatchLinks()

    /// Prepares an item; one that is refused stays so.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    func prepared(_ item: ImportFormat.Item) throws -> PreparedItem {
        let item = preservesRecordedTime ? item.withReadableRecordedTime() : item
        let recordedAt = preservesRecordedTime ? item.recordedAt : nil
        let result: ImportResult<DecidedSubmission> =
            switch item.result {
            case .refused(let refusal): .refused(refusal)
            case .taken(let submission):
                .taken(
                    try ledger.appender.decide(submission, recordedAt: recordedAt, in: links)
                )
            }
        return PreparedItem(
            line: item.line,
            format: item.format,
            result: result,
            bytes: item.bytes
        )
    }
}

/// Lines that become prepared items on another thread, while those before them are recorded.
final class PreparedBatch: Sendable {
    private let items = Mutex<Result<[PreparedItem], any Error>>(.success([]))
    private let isDone = DispatchSemaphore(value: 0)

    /// Starts.
    init(_ prepare: @escaping @Sendable () throws -> [PreparedItem]) {
        DispatchQueue.global().async { [self] in
            let result = Result { try prepare() }
            items.withLock { $0 = result }
            isDone.signal()
        }
    }

    /// Waits for the items; to be called once.
    ///
    /// - Throws: what preparing them threw.
    func take() throws -> [PreparedItem] {
        isDone.wait()
        return try items.withLock { items in
            defer { items = .success([]) }
            return try items.get()
        }
    }
}
