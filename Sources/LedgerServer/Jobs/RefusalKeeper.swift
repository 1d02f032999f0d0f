import EntitlementLedger
import LedgerOperations
import ServiceLifecycle
import Synchronization

/// Keeps what was counted of refused signals and is in no note yet, so that a server that is killed
/// loses no more than the last seconds (Stores, rule 5).
final class RefusalKeeper: Sendable {
    private let ledger: Ledger
    private let file: RefusalFile
    private let faults: FaultNotes
    /// What the file holds.
    private let kept = Mutex<[RefusalCount]>([])

    /// nil: the ledger stands in no directory, or is only read.
    init?(_ ledger: Ledger, in directory: String?, _ faults: FaultNotes) {
        guard let directory, !ledger.isReadOnly else { return nil }
        self.ledger = ledger
        self.faults = faults
        file = RefusalFile(ofLedgerAt: directory)
    }

    /// Takes up what an earlier server counted, before anything is counted here.
    func takeUp() {
        do {
            let counts = try file.read()
            try ledger.appender.takeUp(counts)
            kept.withLock { $0 = counts }
        } catch {
            faults.note(error, of: Self.job)
        }
    }

    /// Notes what is due, and writes what is not where it changed.
    func keep() {
        do {
            let appender = try ledger.appender
            _ = appender.noteRefusals()
            // Written in the order in which it was counted.
            try kept.withLock { kept in
                let counts = appender.refusalsToNote
                guard counts != kept else { return }
                try file.write(counts)
                kept = counts
            }
        } catch {
            faults.note(error, of: Self.job)
        }
    }

    /// The word for it in the log.
    private static let job = "refusals"
}

/// Has it kept while the server runs.
struct RefusalWatch: Service {
    let service: LedgerService
    let keeper: RefusalKeeper

    /// How often it is looked: no more than this is lost.
    private static let interval = Duration.seconds(2)

    func run() async throws {
        while await Self.interval.passes() {
            try await service.blocking { [keeper] in keeper.keep() }
        }
    }
}
