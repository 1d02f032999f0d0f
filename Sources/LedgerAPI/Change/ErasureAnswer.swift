import Encodings
public import Entitlements

/// What an erasure came to: `erase`.
public struct ErasureAnswer: Described {
    /// What proves it; nil: nothing is known of any of these customers.
    public var receipt: ErasureReceipt?

    /// Makes an answer.
    package init(receipt: ErasureReceipt?) { self.receipt = receipt }

    /// What became of the request.
    public enum Outcome: String, Sendable, CaseIterable {
        /// Erased, now or by this request before.
        case erased
        /// Nothing is known of them.
        case unknown
    }

    /// What became of the request.
    public var outcome: Outcome { receipt == nil ? .unknown : .erased }

    /// Its members, in the order in which they are written; the outcome follows from the receipt.
    package static let fields = Fields(
        "Erasure",
        "What an erasure came to",
        { _, receipt in Self(receipt: receipt) }
    ) {
        Field("outcome", \.outcome, .word)
        Field(
            "receipt",
            \.receipt,
            .orNull(.object),
            "Proves the erasure and names nobody; null where nothing is known of them"
        )
    }
}

/// What proves an erasure and names nobody.
///
/// It says which streams are gone, where the log says so, and which copies still hold them; signed by
/// the key of checkpoints.
public struct ErasureReceipt: Described {
    /// The log's name.
    public var origin: String
    /// The first event of the erasure.
    public var sequence: UInt64
    /// How many events it has.
    public var events: Int
    /// When it was recorded (T3).
    public var recordedAt: Instant
    /// Numbers of the streams that are gone, ascending.
    public var streams: [UInt64]
    /// The records whose evidence was deleted, since its keys are others', ascending.
    public var evidence: [UInt64]
    /// The log's size with the erasure as its end.
    public var treeSize: UInt64
    /// The log's root at that size, in base64.
    public var rootHash: String
    /// The generation of the vault's epoch keys since; it counts the erasures.
    public var generation: UInt64
    /// The backups, as they were when the receipt was made.
    public var backups: Backups
    /// Exports that hold what was erased: they are to be deleted by whoever has them.
    public var exports: [String]
    /// Machines of a cluster that did not say yet that they followed: each does when it hears of the cluster, or ends.
    public var machines: [String]
    /// What of the cluster's database keeps what was replaced, a sentence each: it is sealed by keys that the
    /// master key opens yet.
    public var database: [String]
    /// The receipt as a C2SP signed note: its text, an empty line, the signature.
    public var note: String

    /// What became of the backups.
    public struct Backups: Described {
        /// Those in which it is erased, too.
        public var reached: [String]
        /// Those that still hold it.
        public var missed: [Missed]

        /// Makes a list.
        package init(reached: [String], missed: [Missed]) {
            self.reached = reached
            self.missed = missed
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("ErasedBackups", "What became of backups", Self.init) {
            Field("reached", \.reached, .list(.text), "Backups in which it is erased, too")
            Field(
                "missed",
                \.missed,
                .list(.object),
                "Backups that still hold it, and by when they are to be deleted"
            )
        }
    }

    /// A backup that could not be reached.
    public struct Missed: Described {
        /// Where it was made.
        public var path: String
        /// When it is to be deleted at the latest.
        public var until: Instant

        /// Names one.
        package init(path: String, until: Instant) {
            self.path = path
            self.until = until
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "MissedBackup",
            "A backup that could not be reached",
            Self.init
        ) {
            Field("path", \.path, .text)
            Field("until", \.until, .instant)
        }
    }

    /// Makes a receipt.
    package init(
        origin: String,
        sequence: UInt64,
        events: Int,
        recordedAt: Instant,
        streams: [UInt64],
        evidence: [UInt64],
        treeSize: UInt64,
        rootHash: String,
        generation: UInt64,
        backups: Backups,
        exports: [String],
        machines: [String],
        database: [String],
        note: String
    ) {
        self.origin = origin
        self.sequence = sequence
        self.events = events
        self.recordedAt = recordedAt
        self.streams = streams
        self.evidence = evidence
        self.treeSize = treeSize
        self.rootHash = rootHash
        self.generation = generation
        self.backups = backups
        self.exports = exports
        self.machines = machines
        self.database = database
        self.note = note
    }

    /// The first line of its note: no checkpoint begins so.
    package static let title = "entitlement-ledger erasure v1"

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ErasureReceipt",
        "What proves an erasure and names nobody",
        Self.init
    ) {
        Field("origin", \.origin, .text, "The log's name")
        Field("sequence", \.sequence, .count, "The first event of the erasure")
        Field("events", \.events, .count)
        Field("recordedAt", \.recordedAt, .instant)
        Field(
            "streams",
            \.streams,
            .list(.erasedStream),
            "What is gone: these streams have neither name nor key"
        )
        Field(
            "evidence",
            \.evidence,
            .list(.count),
            "Sequences of the events whose evidence was deleted: it named them, and its keys are others'"
        )
        Field("treeSize", \.treeSize, .count, "The log's size with the erasure as its end")
        Field("rootHash", \.rootHash, .text(.common(.digest)), "The log's root at that size")
        Field(
            "generation",
            \.generation,
            .count,
            "Of the vault's epoch keys; it counts the erasures"
        )
        Field("backups", \.backups, .object)
        Field(
            "exports",
            \.exports,
            .list(.text),
            "Exports that hold it; another machine's: its name and a colon before the path"
        )
        Field(
            "machines",
            \.machines,
            .list(.text),
            "Machines of a cluster that did not say yet that they followed"
        )
        Field(
            "database",
            \.database,
            .list(.text),
            "What of the cluster's database keeps what was replaced yet"
        )
        Field(
            "note",
            \.note,
            .text(.pattern("^\(title)\n")),
            "The same as a C2SP signed note, by the key of the log's checkpoints"
        )
    }
}

extension Form<UInt64> {
    /// A stream whose name is gone: `erased/NUMBER`.
    static var erasedStream: Self {
        let prefix = "erased/"
        return Form(
            .pattern("^\(prefix)[1-9][0-9]*$"),
            expected: "a stream without a name",
            write: { $1.string(prefix + String($0)) },
            read: { json in
                guard let text = json.string, text.hasPrefix(prefix) else { return nil }
                return UInt64(text.dropFirst(prefix.count))
            }
        )
    }
}
