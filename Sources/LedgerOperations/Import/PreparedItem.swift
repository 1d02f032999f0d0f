import Dispatch
import EntitlementLedger
import Synchronization

/// One item of an import, whose turn has come or will come.
struct PreparedItem {
    var line: Int
    /// What the line was taken for; nil: it could not be told.
    var format: ImportFormat?
    /// Why it is not taken; nil: it is.
    var refusal: ImportRefusal?
    /// What was read, where it is kept if it is refused; nil also where it was too long.
    var bytes: [UInt8]?
}

/// Items in their order, and what those hand in that are taken.
///
/// Apart from the items, so that all are handed on without a copy of each.
struct PreparedItems {
    var items: [PreparedItem] = []
    var submissions: [DecidedSubmission] = []
}

/// Makes items ready to be recorded.
struct ItemPreparation: Sendable {
    let ledger: Ledger
    let preservesRecordedTime: Bool
    /// Whether what is read is kept until it is recorded.
    let keepsBytes: Bool
    /// The links of the batch that it prepares.
    let links = BatchLinks()

    /// Prepares an item behind others; one that is refused stays so.
    ///
    /// - Throws: `LedgerFault`, `LogStorageFault`.
    func add(_ item: ImportFormat.Item, to prepared: inout PreparedItems) throws {
        let item = preservesRecordedTime ? item.withReadableRecordedTime() : item
        var refusal: ImportRefusal?
        switch item.result {
        case .refused(let reason): refusal = reason
        case .taken(let submission):
            prepared.submissions.append(
                try ledger.appender.decide(
                    submission,
                    recordedAt: preservesRecordedTime ? item.recordedAt : nil,
                    in: links
                )
            )
        }
        prepared.items.append(
            PreparedItem(
                line: item.line,
                format: item.format,
                refusal: refusal,
                bytes: keepsBytes ? item.bytes : nil
            )
        )
    }
}

/// Lines that become prepared items on another thread, while those before them are recorded.
final class PreparedBatch: Sendable {
    private let items = Mutex<Result<PreparedItems, any Error>>(.success(PreparedItems()))
    private let isDone = DispatchSemaphore(value: 0)

    /// Starts.
    init(_ prepare: @escaping @Sendable () throws -> PreparedItems) {
        DispatchQueue.global().async { [self] in
            let result = Result { try prepare() }
            items.withLock { $0 = result }
            isDone.signal()
        }
    }

    /// Waits for the items; to be called once.
    ///
    /// - Throws: what preparing them threw.
    func take() throws -> PreparedItems {
        isDone.wait()
        return try items.withLock { items in
            defer { items = .success(PreparedItems()) }
            return try items.get()
        }
    }
}
