package import Entitlements
package import EventLog
import Synchronization

/// Which ledger it is.
public struct LedgerIdentity: Sendable, Equatable {
    /// 16 random bytes.
    public var id: [UInt8]
    /// Bytes of an id.
    public static let idByteCount = 16
    /// The log's name in checkpoints.
    public var origin: String

    /// Makes an identity.
    public init(id: [UInt8], origin: String) {
        self.id = id
        self.origin = origin
    }
}

/// A ledger: events in, answers out, each by the part that does it.
///
/// Everything that it knows of the environment comes in as an argument: storage, clock, randomness.
public final class Ledger: Sendable {
    /// Which ledger it is.
    public let identity: LedgerIdentity
    /// Whether it only reads.
    public let isReadOnly: Bool
    /// Answers what customers may use, have and had, and why.
    public let questions: Questions
    /// Sums over everybody.
    public let reports: Reports
    /// Checks the log, and what is derived from it.
    public let auditor: Auditor
    /// Signs the log, and proves what stands in it.
    public let prover: Prover
    /// Keeps a copy of the log elsewhere.
    public let archiver: Archiver
    /// Exports a customer's log, or a range of it.
    public let exporter: Exporter
    /// Erases customers.
    public let eraser: Eraser
    /// Reads ids of transactions for the search.
    package let identifiers: IdentifierFollower
    /// nil for who only reads.
    private let appending: Appender?
    /// The vault with what is given and destroyed; nil: its key is not at hand.
    private let opened: (any Vault)?
    private let options: Options
    private let isClosed = Atomic(false)

    /// What a ledger is opened with.
    package struct Options: Sendable {
        /// The directory of the views' generations; nil: they are made in memory.
        package var viewsPath: String?
        /// Changes when the machine starts anew; views of another boot are discarded.
        package var bootID: String
        /// Whether nothing is to be written.
        package var isReadOnly: Bool
        /// The time (T3).
        package var clock: @Sendable () -> Instant
        /// What tells whether the time is to be believed.
        package var clockWitness: ClockWitness
        /// Keys, nonces and ids.
        package var randomness: RandomSource
        /// Bytes of memory that what customers may use now is kept in, about; the oldest goes first.
        package var accessCacheByteLimit: Int
        /// A checkpoint of this ledger that the log does not hold, a signed note: nothing is signed
        /// against it.
        package var published: String?

        /// What a salvage could not bring back, for audits and `status`.
        package var knownLoss: KnownLoss?
        /// Ends the use of log and vault, once, after the views are closed; `isClean`: whether
        /// nothing is in doubt.
        package var release: (@Sendable (_ isClean: Bool) -> Void)?

        /// Makes options.
        package init(
            viewsPath: String?,
            bootID: String = "",
            isReadOnly: Bool,
            clock: @escaping @Sendable () -> Instant,
            clockWitness: ClockWitness = .trusting,
            randomness: RandomSource = .system,
            accessCacheByteLimit: Int = usualAccessCacheByteLimit,
            knownLoss: KnownLoss? = nil,
            published: String? = nil,
            release: (@Sendable (_ isClean: Bool) -> Void)? = nil
        ) {
            self.release = release
            self.published = published
            self.viewsPath = viewsPath
            self.bootID = bootID
            self.isReadOnly = isReadOnly
            self.clock = clock
            self.clockWitness = clockWitness
            self.randomness = randomness
            self.accessCacheByteLimit = accessCacheByteLimit
            self.knownLoss = knownLoss
        }

        /// Those of a ledger that takes nothing but the log to answer.
        ///
        /// `isWhole`: whether it is all of the log; what is lost behind its end is nothing of a shorter one.
        fileprivate func readingAnew(isWhole: Bool) -> Options {
            var loss = knownLoss
            if !isWhole { loss?.behindEnd = 0 }
            return Options(
                viewsPath: nil,
                isReadOnly: true,
                clock: clock,
                randomness: randomness,
                knownLoss: loss
            )
        }

        /// 1 M customers of whom is asked whether they may use something.
        package static let usualAccessCacheByteLimit = 512 << 20
    }

    /// Opens a ledger over its storage.
    ///
    /// A writer makes the views anew where they do not match the log.
    /// - Throws: `LogStorageFault`, or what the views' files throw.
    package convenience init(
        identity: LedgerIdentity,
        log: any LogStorage,
        vault: any Vault,
        options: Options
    ) throws {
        try self.init(
            identity,
            reading: log,
            writing: options.isReadOnly ? nil : log,
            vault,
            opened: vault,
            options
        )
    }

    /// Opens a ledger over a log that is only read.
    ///
    /// - Throws: `LogStorageFault`, or what the views' files throw.
    package convenience init(
        identity: LedgerIdentity,
        reading log: any LogReader,
        vault: any Vault,
        options: Options
    ) throws {
        precondition(options.isReadOnly, "what is only read is opened so")
        try self.init(identity, reading: log, writing: nil, vault, opened: vault, options)
    }

    /// Opens a ledger over a log that is only read and whose names and keys are not at hand: what
    /// is asked of it that takes them throws.
    ///
    /// `publicKey`: verifies the log's checkpoints.
    ///
    /// - Throws: `LogStorageFault`, or what the views' files throw.
    package convenience init(
        identity: LedgerIdentity,
        reading log: any LogReader,
        publicKey: VerifierKey,
        options: Options
    ) throws {
        precondition(options.isReadOnly, "what is only read is opened so")
        let vault = KeylessVault(publicKey: publicKey)
        try self.init(identity, reading: log, writing: nil, vault, opened: nil, options)
    }

    private init(
        _ identity: LedgerIdentity,
        reading log: any LogReader,
        writing storage: (any LogStorage)?,
        _ vault: any VaultReader,
        opened: (any Vault)?,
        _ options: Options,
        goingOnFrom snapshot: Views.Snapshot? = nil
    ) throws {
        self.identity = identity
        self.options = options
        self.opened = opened
        isReadOnly = options.isReadOnly
        questions = try Questions(of: identity, log, vault, options, goingOnFrom: snapshot)
        let rollUps = RollUpCache(
            path: options.viewsPath,
            log: log,
            identity: identity,
            secret: vault.viewSecret,
            isReadOnly: options.isReadOnly || snapshot != nil
        )
        if let storage, let opened {
            appending = Appender(questions, writing: storage, opened, options)
        } else {
            appending = nil
        }
        reports = Reports(questions: questions, rollUps: rollUps)
        let written = storage == nil ? nil : opened
        identifiers = IdentifierFollower(questions: questions, opened: written)
        prover = Prover(
            identity: identity,
            log: log,
            vault: vault,
            opened: opened,
            storage: storage,
            published: options.published
        )
        archiver = Archiver(log, prover, knownLoss: options.knownLoss)
        exporter = Exporter(questions: questions, prover: prover, clock: options.clock)
        eraser = Eraser(
            questions: questions,
            prover: prover,
            archiver: archiver,
            rollUps: rollUps,
            opened: opened,
            appending: appending
        )
        auditor = Auditor(
            questions: questions,
            reports: reports,
            prover: prover,
            archiver: archiver,
            appending: appending,
            readAnew: { size in
                try Ledger(
                    identity: identity,
                    reading: PrefixLog(log, size: size),
                    vault: opened.whole,
                    options: options.readingAnew(isWhole: size == log.end().size)
                )
            }
        )
        try eraser.followErasures()
    }

    /// Records.
    ///
    /// - Throws: `LedgerFault.readOnly`.
    public var appender: Appender {
        get throws { try appending.whole }
    }

    /// A ledger that begins as this one and goes on in memory: what is recorded in it is decided as
    /// it would be here, reaches no disk, and is gone with it.
    ///
    /// It reads what this one reads, so that it may be made of a ledger that is only read, beside its
    /// writer. Cost: small; what the views cover is not read again.
    ///
    /// - Throws: `LogStorageFault` where the vault's key is not at hand.
    public func draft() throws -> Ledger {
        var options = options
        options.isReadOnly = false
        options.release = nil
        let snapshot = questions.views.snapshot
        let log = try DraftLog(on: questions.log)
        let vault = DraftVault(on: try opened.whole, randomness: options.randomness)
        return try Ledger(
            identity,
            reading: log,
            writing: log,
            vault,
            opened: vault,
            options,
            goingOnFrom: snapshot
        )
    }

    /// Moves the views behind the log to its end and ends the use of what lies below; closing
    /// twice does nothing.
    ///
    /// What was recorded stands also where this throws (E3): views are made anew from the log.
    ///
    /// - Parameter isClean: Whether nothing is in doubt, else the next opening checks the ledger.
    /// - Throws: what the views' files throw.
    public func close(isClean: Bool = true) throws {
        guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        defer { options.release?(isClean) }
        try questions.views.close()
    }
}

extension Optional where Wrapped == Appender {
    /// What records.
    ///
    /// - Throws: `LedgerFault.readOnly`.
    var whole: Appender {
        get throws {
            guard let self else { throw LedgerFault.onlyRead }
            return self
        }
    }
}

extension Optional where Wrapped == any Vault {
    /// The vault with what is given and destroyed.
    ///
    /// - Throws: `LogStorageFault` where its key is not at hand.
    var whole: any Vault {
        get throws {
            guard let self else { throw KeylessVault.fault }
            return self
        }
    }
}

/// A refusal or fault of the ledger, with what to do.
public struct LedgerFault: Error, Sendable, Equatable {
    /// What kind.
    public var code: Code
    /// A sentence; holds no id.
    public var message: String
    /// What to do, in terms of the command; nil: nothing but what the message says.
    public var remedy: String?

    /// The closed set of faults.
    public enum Code: String, Sendable {
        /// The log's last recorded time is too far ahead of the clock (T3).
        case clockBehind = "clock_behind"
        /// The clock is not believed (T3).
        case clockAhead = "clock_ahead"
        /// A decision did not come to stand.
        case contended
        /// The ledger was opened to be read.
        case readOnly = "read_only"
        /// A question about a prefix that the log does not have yet.
        case unknownSequence = "unknown_sequence"
        /// The log does not extend a checkpoint that was published: it never signs another one.
        case shortened
        /// No name of the ledger is this one: never recorded, or erased (C6).
        case unknownCustomer = "unknown_customer"
        /// The range of an export holds no event.
        case emptyRange = "empty_range"
        /// The export that was begun is another one.
        case otherExport = "other_export"
    }

    static let onlyRead = LedgerFault(.readOnly, "the ledger was opened to be read")

    /// Makes a fault.
    public init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }
}
