import Entitlements
import EventLog

/// The part of a ledger that records: what is asked for is decided against the log as it stands,
/// sealed, and appended durably (E2, E3, E4).
public final class Appender: Sendable {
    let pipeline: Pipeline
    let storage: any LogStorage
    let refusals = RefusalTally()

    /// Makes the part; `storage` is what `questions` read.
    init(
        _ questions: Questions,
        writing storage: any LogStorage,
        _ vault: any Vault,
        _ options: Ledger.Options
    ) {
        self.storage = storage
        pipeline = Pipeline(
            questions: questions,
            vault: vault,
            writer: LogWriter(
                log: storage,
                vault: vault,
                views: questions.views,
                judge: ClockJudge(options.clock, options.clockWitness)
            ),
            sealer: SubmissionSealer(
                vault: vault,
                randomness: options.randomness,
                sharedParts: SharedPartCache(log: storage)
            ),
            clock: options.clock
        )
    }

    /// What the log, the names and the views say.
    var questions: Questions { pipeline.questions }
    /// Names and keys, with what is given and destroyed.
    var vault: any Vault { pipeline.vault }
    /// The one writer.
    var writer: LogWriter { pipeline.writer }
    /// The time of what is asked now.
    var clock: @Sendable () -> Instant { pipeline.clock }

    /// Takes up what another machine of a cluster has appended, while nothing is appended here.
    ///
    /// `copy`: adds it to the files of log and vault. Views follow when this returns.
    ///
    /// - Throws: what `copy` throws, `LogStorageFault`.
    package func follow(_ copy: () throws -> Void) throws { try writer.follow(copy) }

    /// Makes sure that what is appended now would get a time that is believed (T3).
    ///
    /// - Throws: `LedgerFault.clockBehind`, `.clockAhead`; `LogStorageFault`.
    package func requireClock() throws { try writer.requireClock() }
}
