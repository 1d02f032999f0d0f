import Encodings
public import Entitlements

/// How a ledger is: `status`.
public struct StatusAnswer: Described {
    /// Whether anything is to be done.
    public var health: Health
    /// Size of the log.
    public var sequence: UInt64
    /// Events of each environment.
    public var environmentCounts: EnvironmentCounts
    /// When the last event was recorded (T3); nil: there is none.
    public var lastRecordedAt: Instant?
    /// The views.
    public var views: ViewsStatus
    /// What was signed last; nil: nothing yet.
    public var checkpoint: SignedSize?
    /// How far the log is known to be complete, by source (Z12).
    public var completeness: [Keyed<Completeness>]
    /// What its files take; nil: whoever asks does not know where they stand.
    public var disk: DiskUse?
    /// Events that a salvage could not bring back; nil: none.
    public var lost: UInt64?
    /// What a server does by itself; nil: whoever asks is none.
    public var jobs: [JobStatus]?
    /// What is the matter by a server's last looks; nil: whoever asks is none.
    public var alerts: [LedgerAlert]?

    /// A word for all of it, the worst first.
    public enum Health: String, Sendable, CaseIterable {
        /// A salvage could not bring everything back.
        case eventsLost = "events_lost"
        /// The views on the disk are not believed: answers come from views made in memory.
        case viewsDiscarded = "views_discarded"
        /// Nothing is to be done.
        case ok
    }

    /// Events of each environment.
    public struct EnvironmentCounts: Described {
        /// Bought with money.
        public var production: Int
        /// Bought in a store's sandbox.
        public var sandbox: Int
        /// Bought in a developer's test.
        public var local: Int

        /// Makes counts.
        package init(production: Int, sandbox: Int, local: Int) {
            self.production = production
            self.sandbox = sandbox
            self.local = local
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("EnvironmentCounts", "Events by environment", Self.init)
        {
            Field("production", \.production, .count)
            Field("sandbox", \.sandbox, .count)
            Field("local", \.local, .count)
        }
    }

    /// The views.
    public struct ViewsStatus: Described {
        /// Size of the log that they hold.
        public var position: UInt64
        /// Why views on the disk are not used; nil: they are, or there are none.
        public var discarded: String?

        /// Makes a status.
        package init(position: UInt64, discarded: String?) {
            self.position = position
            self.discarded = discarded
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("ViewsStatus", "How the views are", Self.init) {
            Field("position", \.position, .count)
            Field(
                "discarded",
                \.discarded,
                .orAbsent(.text),
                "Why views on the disk are not used, or were made anew while in use."
            )
        }
    }

    /// What a checkpoint signs.
    public struct SignedSize: Described {
        /// The size of the prefix.
        public var size: UInt64
        /// Its root hash in base64.
        public var rootHash: String

        /// Makes one.
        package init(size: UInt64, rootHash: String) {
            self.size = size
            self.rootHash = rootHash
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("SignedSize", "What a checkpoint signs", Self.init) {
            Field("size", \.size, .count)
            Field("rootHash", \.rootHash, .text(.common(.digest)))
        }
    }

    /// Bytes on the disk.
    public struct DiskUse: Described {
        /// Bytes of the log.
        public var log: Int64
        /// Bytes of the vault.
        public var vault: Int64
        /// Bytes of the vault that the ids of transactions take, by which a search finds them; nil: whoever asks
        /// has not opened it.
        public var identifiers: Int64?
        /// Bytes of the views.
        public var views: Int64
        /// That are free where the log stands.
        public var free: Int64

        /// Makes one.
        package init(
            log: Int64,
            vault: Int64,
            identifiers: Int64? = nil,
            views: Int64,
            free: Int64
        ) {
            self.log = log
            self.vault = vault
            self.identifiers = identifiers
            self.views = views
            self.free = free
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("DiskUse", "Bytes on the disk", Self.init) {
            Field("log", \.log, .count)
            Field("vault", \.vault, .count)
            Field(
                "identifiers",
                \.identifiers,
                .orAbsent(.count),
                "Of the vault's, those of the ids of transactions, by which a search finds them"
            )
            Field("views", \.views, .count)
            Field("free", \.free, .count, "Bytes that are free where the log stands")
        }
    }

    /// How far a source is known to be complete.
    public struct Completeness: Described {
        /// Its events.
        public var events: Int
        /// When something of it was recorded last (T3); nil: nothing was.
        public var lastRecordedAt: Instant?
        /// Until when nothing is missing; nil: nobody said so.
        public var through: Instant?
        /// When signals in its name were refused last; nil: never.
        public var lastRefusedAt: Instant?
        /// Why something of a store may be missing; empty: nothing says so.
        public var gaps: [Gap]

        /// Why something of a store may be missing.
        public enum Gap: String, Sendable, CaseIterable {
            /// It was never asked for everything that it sent: what did not arrive is not known.
            case neverAsked = "never_asked"
            /// It has no list of what it sent: what did not arrive is not known, and nobody can ask.
            case cannotBeAsked = "cannot_be_asked"
            /// Signals in its name were refused since: they may have been its own.
            case refused
        }

        /// Makes one.
        package init(
            events: Int,
            lastRecordedAt: Instant?,
            through: Instant?,
            lastRefusedAt: Instant?,
            gaps: [Gap]
        ) {
            self.events = events
            self.lastRecordedAt = lastRecordedAt
            self.through = through
            self.lastRefusedAt = lastRefusedAt
            self.gaps = gaps
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields("Completeness", "How complete a source is", Self.init) {
            Field("events", \.events, .count)
            Field(
                "lastRecordedAt",
                \.lastRecordedAt,
                .orNull(.instant),
                "When something of it was recorded last"
            )
            Field("through", \.through, .orNull(.instant))
            Field(
                "lastRefusedAt",
                \.lastRefusedAt,
                .orNull(.instant),
                "When signals in its name were refused last"
            )
            Field("gaps", \.gaps, .list(.word), "Why something of a store may be missing")
        }
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Status", "How a ledger is", Self.init) {
        Field("health", \.health, .word, "The worst that holds")
        Field("sequence", \.sequence, .count)
        Field("environmentCounts", \.environmentCounts, .object)
        Field("lastRecordedAt", \.lastRecordedAt, .orNull(.instant))
        Field("views", \.views, .object)
        Field("checkpoint", \.checkpoint, .orNull(.object))
        Field(
            "completeness",
            \.completeness,
            .map(.object),
            "By source: its events, and until when it is known to be complete"
        )
        Field("disk", \.disk, .orNull(.object))
        Field(
            "lost",
            \.lost,
            .orAbsent(.count),
            "Events that a salvage could not bring back, where there are any"
        )
        Field("jobs", \.jobs, .orAbsent(.list(.object)), "A server: what it does by itself")
        Field("alerts", \.alerts, .orAbsent(.list(.object)), "A server: what is the matter now")
    }
}

extension StatusAnswer {
    /// A status, whose health follows from its parts.
    package init(
        sequence: UInt64,
        environmentCounts: EnvironmentCounts,
        lastRecordedAt: Instant?,
        views: ViewsStatus,
        checkpoint: SignedSize?,
        completeness: [Keyed<Completeness>],
        lost: UInt64
    ) {
        self.init(
            health: lost > 0 ? .eventsLost : views.discarded != nil ? .viewsDiscarded : .ok,
            sequence: sequence,
            environmentCounts: environmentCounts,
            lastRecordedAt: lastRecordedAt,
            views: views,
            checkpoint: checkpoint,
            completeness: completeness,
            disk: nil,
            lost: lost > 0 ? lost : nil,
            jobs: nil,
            alerts: nil
        )
    }
}

extension Source {
    /// Whether a store tells all that it sent to whoever asks (Z12); others tell of one customer at a time.
    package static func tellsAll(_ store: String) -> Bool { [appStore, playStore].holds(store) }

    /// How what a store sent and did not arrive is fetched, in terms of the command.
    package static func fetching(from store: String) -> String {
        tellsAll(store)
            ? "`entitle sync --backfill`" : "`entitle sync CUSTOMER`, or import its export"
    }
}
