import Entitlements
import EventLog

/// The part of a ledger that records: what is asked for is decided against the log as it stands,
/// sealed, and appended durably (E2, E3, E4).
public final class Appender: Sendable {
    let questions: Questions
    let storage: any LogStorage
    /// Names and keys, with what is given and destroyed.
    let vault: any Vault
    let writer: LogWriter
    let clock: @Sendable () -> Instant
    let randomness: RandomSource
    let sharedParts: SharedPartCache
    let refusals = RefusalTally()

    /// Makes the part; `storage` is what `questions` read.
    init(
        _ questions: Questions,
        writing storage: any LogStorage,
        _ vault: any Vault,
        clock: @escaping @Sendable () -> Instant,
        witness: ClockWitness,
        randomness: RandomSource
    ) {
        self.questions = questions
        self.storage = storage
        self.vault = vault
        self.clock = clock
        self.randomness = randomness
        writer = LogWriter(
            log: storage,
            vault: vault,
            views: questions.views,
            judge: ClockJudge(clock, witness)
        )
        sharedParts = SharedPartCache(log: storage)
    }
}
