import DurableFiles
import Encodings
public import EntitlementLedger
public import Entitlements
package import EventLog
package import LMDBStorage

/// A ledger over its directory, open, with the files beneath it for what is done to them.
///
/// Whoever only asks and records opens by `Ledger.open(at:options:)`.
public struct OpenLedger: Sendable {
    /// What is asked and recorded.
    public let ledger: Ledger
    /// Log, vault and the writer's lock.
    package let directory: OpenLedgerDirectory

    /// What a ledger's directory is opened with; each part has a default.
    public struct Options: Sendable {
        /// Where the master key comes from.
        public var key: MasterKeySource
        /// Whether nothing is to be written; one process writes, any number reads.
        public var isReadOnly: Bool
        /// Whether a ledger is made where there is none, with a key of its own.
        public var createsIfMissing: Bool
        /// The log's name in checkpoints, for one that is made: a URL without its scheme.
        public var origin = "ledger.local/log"
        /// Address space that log and vault begin with, in bytes, in whole pages; they grow.
        public var mapSize = MapSize.usual
        /// Bytes of memory that what customers may use now is kept in, about.
        public var accessCacheByteLimit = Ledger.Options.usualAccessCacheByteLimit
        /// The time (T3).
        public var clock: @Sendable () -> Instant = SystemClock.now
        /// What tells whether the time is to be believed; nil: the machine.
        public var clockWitness: ClockWitness?
        /// The date, as somebody confirms it for the log as it stands (T3).
        public var acceptedClock: Instant?
        /// Changes when the machine starts anew; views of another boot are discarded.
        public var bootID = SystemClock.bootID
        /// Keys, nonces and ids.
        package var randomness = RandomSource.system
        /// What others who would write are told of until it is open; nil: the usual writing.
        package var recovery: Recovery?

        /// The ledger's own key and the machine's clock.
        public init(
            key: MasterKeySource = .own,
            isReadOnly: Bool = false,
            createsIfMissing: Bool = false
        ) {
            self.key = key
            self.isReadOnly = isReadOnly
            self.createsIfMissing = createsIfMissing
        }
    }

    /// Opens the ledger of a directory.
    ///
    /// - Throws: `LedgerOpenFault`, `LogStorageFault`, `OperationFault` for a key that cannot be
    ///   read, or what the views' files throw.
    public init(at path: String, options: Options = Options()) throws {
        try self.init(at: path, options: options, asNode: nil)
    }

    /// Opens it, as a node of a cluster where it is one.
    ///
    /// `log`: what its log is appended to through; nil: it is one machine's.
    init(
        at path: String,
        options: Options,
        asNode log: ((OpenLedgerDirectory) -> any LogStorage)?
    ) throws {
        let clock = options.clock
        directory = try OpenLedgerDirectory(
            at: path,
            masterKey: options.key.read(of: path),
            renewedKey: options.key.renewal(of: path),
            forWriting: !options.isReadOnly,
            asNode: log != nil,
            bootID: SystemClock.told(options.bootID),
            mapSize: options.mapSize,
            clock: { clock().milliseconds },
            randomness: options.randomness
        )
        do {
            directory.announce(.opening)
            if !options.isReadOnly, let acceptedClock = options.acceptedClock {
                try LedgerDirectory.accept(
                    clock: acceptedClock.milliseconds,
                    size: directory.log.end().size,
                    at: path
                )
            }
            ledger = try Ledger(
                identity: directory.manifest.identity(),
                log: log?(directory) ?? directory.log,
                vault: directory.vault,
                options: Ledger.Options(
                    viewsPath: path + "/" + LedgerDirectory.viewsName,
                    bootID: options.bootID,
                    isReadOnly: options.isReadOnly,
                    clock: clock,
                    clockWitness: options.clockWitness ?? SystemClock.witness(of: path),
                    randomness: options.randomness,
                    accessCacheByteLimit: options.accessCacheByteLimit,
                    knownLoss: directory.knownLoss,
                    published: directory.published,
                    release: { [directory] in directory.close(isClean: $0) }
                )
            )
            directory.announce(options.recovery)
        } catch {
            directory.close(isClean: !Self.leavesDoubt(error))
            throw error
        }
        guard !options.isReadOnly, log == nil else { return }
        try noteContinuation()
        // What somebody adds to at this moment is looked at with the next opening.
        _ = try? ImportQuarantine.destroyOld(of: ledger, inDirectory: path, at: clock())
    }

    /// Records where the log came from, if it goes on under a new name and no event says so yet: it was made
    /// by somebody who was stopped there.
    private func noteContinuation() throws {
        do {
            guard let words = try LedgerDirectory.continued(at: directory.path) else { return }
            try ledger.appender.noteContinuation(words)
            LedgerDirectory.forgetContinued(at: directory.path)
        } catch {
            close(after: error)
            throw error
        }
    }

    /// Closes ledger, log and vault; the lock goes last.
    ///
    /// - Throws: what the views' files throw; everything is closed then as well, and what was
    ///   recorded stands.
    public func close() throws { try ledger.close() }

    /// Closes it after something failed.
    ///
    /// What was recorded stands; views that do not close cleanly are followed up later. After a
    /// fault of the storage the next opening checks the ledger first.
    public func close(after error: any Error) {
        // The first fault is the one that is told.
        try? ledger.close(isClean: !Self.leavesDoubt(error))
    }

    /// Whether a fault tells of the storage or of files: what stands there is looked at before it is written to
    /// again.
    private static func leavesDoubt(_ error: any Error) -> Bool {
        error is LogStorageFault || error is FileFault || error is DecodingFault
    }
}

extension LedgerDirectory.Manifest {
    /// Which ledger it is.
    ///
    /// - Throws: `LedgerOpenFault` where the manifest has no id.
    func identity() throws -> LedgerIdentity {
        guard let id = Hexadecimal.decode(ledger), id.count == LedgerIdentity.idByteCount else {
            throw LedgerOpenFault(.foreign, "its ledger.json has no ledger id")
        }
        return LedgerIdentity(id: id, origin: origin)
    }
}
