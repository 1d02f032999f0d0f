/// The two journals of a cluster, log and vault, which replicate what each node has in its own files
/// (Several machines).
///
/// What is asked for blocks its thread, at most as long as the journal is given for a call. A call
/// whose answer does not come is given up with its connection, never cancelled.
package protocol ClusterJournal: Sendable {
    /// The one row, as it stands. Proves nothing: what a restarted database shows may be on no second
    /// machine.
    ///
    /// - Throws: ``JournalFault``.
    func row() throws -> JournalRow

    /// Appends a commit in one transaction, where the row is what the decision was made on.
    ///
    /// `decidedOn`: the end that the row must have, and that was confirmed.
    func append(
        _ batch: JournalBatch,
        endingAt end: LogEnd,
        decidedOn known: JournalEnd,
        as leadership: Leadership
    ) -> JournalOutcome

    /// Replaces the vault's keys and some of its items in one transaction, where the row and the wrapped keys
    /// are what the change was made from.
    func rotate(
        _ rotation: VaultRotation,
        insteadOf keys: [UInt8],
        decidedOn known: JournalEnd,
        as leadership: Leadership
    ) -> JournalOutcome

    /// Renews the lease, and tells the row behind it: what it returns is durable on a second machine.
    ///
    /// `leader`: who leads from then on in the same term. A call that is on its way yet carries the one
    /// before, and is refused: so a doubt is settled once and for all.
    ///
    /// `confirmed`: what the leader was told is durable, for others to read.
    func renew(
        _ leadership: Leadership,
        as leader: LeaderID,
        confirmed: JournalEnd?
    ) -> JournalOutcome

    /// Gives the lease up, so that nobody leads: whoever sees it takes the next one at once.
    ///
    /// A call of the same leader that is on its way yet is refused.
    ///
    /// `confirmed`: as for ``renew(_:as:confirmed:)``.
    func resign(_ leadership: Leadership, confirmed: JournalEnd) -> JournalOutcome

    /// Milliseconds since 1970 by the database's clock.
    ///
    /// - Throws: ``JournalFault``.
    func clock() throws -> Int64

    /// Takes a lease that did not move, or that was given up: a new term begins.
    func take(
        over lease: JournalLease,
        as leader: LeaderID,
        node: String,
        address: String
    ) -> JournalOutcome

    /// Takes the last term, which nobody can take over, renew or append in: the ledger goes on elsewhere.
    ///
    /// `lease`: the one that is ended, or what an earlier call of the same left. `leader`: who ends it.
    /// `confirmed`: as for ``renew(_:as:confirmed:)``.
    func end(
        _ lease: JournalLease,
        as leader: LeaderID,
        node: String,
        confirmed: JournalEnd?
    ) -> JournalOutcome

    /// Reads what lies behind a place, in one snapshot.
    ///
    /// `first`: the size of the reader's log. `position`: how much of the vault it has.
    ///
    /// - Throws: ``JournalFault``.
    func page(from first: UInt64, vaultAfter position: UInt64) throws -> JournalPage

    /// Waits until something may have been appended, or until a moment has passed.
    ///
    /// - Returns: what a leader said last meanwhile; nil: nothing.
    /// - Throws: ``JournalFault``.
    func awaitChange(milliseconds: Int) throws -> JournalAnnouncement?

    /// Tells who follows what is durable on a second machine: a hint, which may not come.
    ///
    /// - Throws: ``JournalFault``.
    func announce(_ announcement: JournalAnnouncement) throws
}

/// What a leader says behind a commit.
package struct JournalAnnouncement: Sendable, Equatable {
    /// Who says so: it counts while that one leads.
    package var leadership: Leadership
    /// Events that are durable on a second machine.
    package var size: UInt64
    /// The root at that size.
    package var root: Digest

    /// Puts it together.
    package init(leadership: Leadership, size: UInt64, root: Digest) {
        self.leadership = leadership
        self.size = size
        self.root = root
    }
}

/// Who leads, drawn anew at each start and whenever a doubt is settled.
package struct LeaderID: Sendable, Hashable {
    /// 16 bytes.
    package var bytes: [UInt8]

    /// How many bytes it has.
    package static let byteCount = 16

    /// Draws one.
    package init(using randomness: inout RandomSource) {
        bytes = randomness.bytes(Self.byteCount)
    }

    /// Takes over what a journal holds.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Nobody: before the first leader, and once one gave its lease up.
    package static let nobody = LeaderID([UInt8](repeating: 0, count: byteCount))
}

/// What a leader's calls carry: the fence.
package struct Leadership: Sendable, Equatable {
    /// Counts who took the lease.
    package var term: UInt64
    /// Who took it.
    package var leader: LeaderID

    /// Names one.
    package init(term: UInt64, leader: LeaderID) {
        self.term = term
        self.leader = leader
    }
}

/// The lease as the row has it.
package struct JournalLease: Sendable, Equatable {
    /// The term and who leads in it.
    package var leadership: Leadership
    /// Counted up by each renewal and each append.
    package var beat: UInt64
    /// The leader's name among the nodes; empty where nobody leads.
    package var node: String
    /// Where it is reached; empty where nobody leads.
    package var address: String

    /// Puts it together.
    package init(leadership: Leadership, beat: UInt64, node: String, address: String) {
        self.leadership = leadership
        self.beat = beat
        self.node = node
        self.address = address
    }

    /// How far the clock of a node that takes it may differ from the database's, milliseconds: what it records has
    /// its times.
    package static let clockTolerance: Int64 = 60_000

    /// The beat of a lease that nobody takes over: there is none behind it.
    package static let lastBeat = UInt64(Int64.max)

    /// Whether nobody leads any more: the ledger went on elsewhere.
    package var isLast: Bool { beat == Self.lastBeat }

    /// Whether nobody leads: whoever sees it may take it.
    package var isVacant: Bool { leadership.leader == .nobody }
}

/// Where the two journals end.
package struct JournalEnd: Sendable, Equatable {
    /// Events.
    package var size: UInt64
    /// The tree's root.
    package var root: Digest
    /// Items of the vault.
    package var vaultPosition: UInt64
    /// The generation of the vault's keys.
    package var generation: UInt64

    /// Puts it together.
    package init(size: UInt64, root: Digest, vaultPosition: UInt64, generation: UInt64) {
        self.size = size
        self.root = root
        self.vaultPosition = vaultPosition
        self.generation = generation
    }

    /// Whether a copy that came so far has what does not stand here, all of which was confirmed.
    package func lacks(_ size: UInt64, generation: UInt64) -> Bool {
        size > self.size || generation > self.generation
    }
}

/// The one row of a cluster.
package struct JournalRow: Sendable, Equatable {
    /// Where the journals end.
    package var end: JournalEnd
    /// T3 of the last record.
    package var lastRecordedAt: Int64
    /// The highest counter of a stream.
    package var highestCounter: UInt64
    /// The size that a leader was told is durable on a second machine.
    package var confirmedSize: UInt64
    /// The root at that size.
    package var confirmedRoot: Digest
    /// Who leads.
    package var lease: JournalLease

    /// Puts it together.
    package init(
        end: JournalEnd,
        lastRecordedAt: Int64,
        highestCounter: UInt64,
        confirmedSize: UInt64,
        confirmedRoot: Digest,
        lease: JournalLease
    ) {
        self.end = end
        self.lastRecordedAt = lastRecordedAt
        self.highestCounter = highestCounter
        self.confirmedSize = confirmedSize
        self.confirmedRoot = confirmedRoot
        self.lease = lease
    }
}

/// What a snapshot of the journals holds behind a place.
package struct JournalPage: Sendable, Equatable {
    /// The row of the same snapshot.
    package var row: JournalRow
    /// Batches, ascending; not all where there are many.
    package var batches: [JournalBatch]

    /// Puts it together.
    package init(row: JournalRow, batches: [JournalBatch]) {
        self.row = row
        self.batches = batches
    }
}

/// What became of a change: there is no fourth way.
package enum JournalOutcome: Sendable, Equatable {
    /// It stands, on two machines; the row behind it.
    case committed(JournalEnd, Leadership)
    /// Nothing of it stands.
    case refused(JournalFault)
    /// Nobody can tell yet: a renewal does.
    case unknown(String)
}

/// Why a journal did not do something; nothing of it stands.
package struct JournalFault: Error, Sendable, Equatable {
    /// The reason.
    package var code: Code
    /// A sentence; of what cannot be reached, the database library's own, with names of host and role.
    package var message: String

    /// The closed set of reasons.
    package enum Code: String, Sendable {
        /// Another one leads, or a renewal took another id.
        case deposed
        /// The row is not what the decision was made on.
        case moved
        /// PostgreSQL names no synchronous standby.
        case notSynchronous = "not_synchronous"
        /// It does not answer, or is shutting down.
        case unavailable
        /// It is a standby.
        case readOnly = "read_only"
        /// Its disk is full.
        case full
        /// There is no cluster in this schema.
        case missing
        /// There is one already, or something else.
        case notEmpty = "not_empty"
        /// Its format is one that this program does not know.
        case newerFormat = "newer_format"
        /// The role may not do it.
        case notPermitted = "not_permitted"
        /// What stands in it contradicts itself.
        case damaged
        /// It is not what was confirmed before: it was restored to an earlier time, or a machine took over that
        /// lacked some.
        case otherHistory = "other_history"
        /// Its clock differs from that of the node that would lead.
        case clockDiffers = "clock_differs"
        /// Any other refusal of the database.
        case refused
    }

    /// Makes one.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether it stays as it is until somebody changes the database or what is configured.
    package var isLasting: Bool {
        switch code {
        case .deposed, .moved, .unavailable, .readOnly, .notSynchronous, .full, .clockDiffers: false
        case .missing, .notEmpty, .newerFormat, .notPermitted, .damaged, .otherHistory, .refused:
            true
        }
    }
}
