import Dispatch
import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import Synchronization

/// One machine of a cluster: follows its journals, leads where nobody does, and says how it stands
/// (Several machines; row Z9).
///
/// One thread of its own does all of it; who asks or records never waits for it, but for a moment while
/// something is copied.
package final class ClusterNode: Sendable {
    /// The ledger over this node's files.
    package let open: OpenLedger
    /// Its name, one in the cluster.
    package let name: String
    /// Where the others reach it.
    package let address: String
    let journal: any ClusterJournal & ClusterContents
    let log: NodeLog
    let follower: LogFollower
    let state = Mutex(State())
    /// The generation of keys up to which the database gave up what was replaced.
    let vacuumed: Mutex<UInt64>
    /// Milliseconds without contact after which it ends.
    let contactLimit: Int64
    /// The clock by which this node records.
    let clock: @Sendable () -> Instant
    private let wake: DispatchSemaphore
    private let began = ContinuousClock.now

    struct State {
        /// The row as it was read last; nil: never.
        var row: JournalRow?
        /// When a read or a renewal of it began that was answered.
        var heardAt: Int64?
        /// The same, of one whose page this node has.
        var contactAt: Int64?
        /// When a read began of which this node has everything by now; nil: of none.
        var wholeAt: Int64?
        /// The lease's term and beat, and when the read began that found others than the one before it.
        var moved: (term: UInt64, beat: UInt64, readAt: Int64)?
        /// What the cluster had when it was read last, where this node has not all of it yet, and when that began.
        var sought: (size: UInt64, readAt: Int64)?
        /// When the last renewal began that the journal confirmed, or the taking of the lease.
        var renewedAt: Int64 = 0
        /// A word for what keeps it from following, or from leading where nobody does; nil: nothing.
        var fault: String?
        /// Told whenever this node begins to lead; nil: nobody is.
        var hasLed: (@Sendable () -> Void)?
        /// Whether who led before may have left an erasure half done.
        var mayOweErasure = false
        /// Whether files of this node are not what was written.
        var isDamaged = false
        /// When what all nodes hold in common was looked at last.
        var lookedAt: Int64 = .min
        /// What this node said last of the copies that it made; nil: it does not know.
        var told: ToldCopies?
        /// When the cluster's database did not take what this node would say of them, the generation of its keys
        /// then, and the one up to which it had said so; nil: it took it.
        var untold: (at: Int64, generation: UInt64, said: UInt64)?
        /// The machines of the cluster, as they were read of last, and when that began.
        var members: (all: [ClusterMember], readAt: Int64) = ([], 0)
    }

    /// How often a leader renews its lease, milliseconds.
    private static let renewalInterval: Int64 = 1000
    /// How long after the beginning of a renewal an outcome is given that appends nothing.
    package static let outcomeLimit: Int64 = 4000
    /// How often the journals are looked at where no notification comes.
    private static let pollMilliseconds = 20
    /// How long a database that does not answer is left alone.
    private static let pauseMilliseconds = 200

    /// Opens a directory that has been filled.
    init(
        at path: String,
        as file: ClusterFile,
        of journal: any ClusterJournal & ClusterContents,
        options: OpenLedger.Options
    ) throws {
        let wake = DispatchSemaphore(value: 0)
        let made = Mutex<NodeLog?>(nil)
        let open = try OpenLedger(at: path, options: options) { directory in
            let log = NodeLog(named: file.node, over: directory.log, keepingIn: journal) {
                wake.signal()
            }
            made.withLock { $0 = log }
            return log
        }
        guard let log = made.withLock({ $0 }) else {
            preconditionFailure("a ledger is opened over its log")
        }
        (self.open, self.log, self.wake, self.journal) = (open, log, wake, journal)
        (name, address) = (file.node, file.address)
        contactLimit = file.contactSeconds * 1000
        clock = options.clock
        let directory = open.directory
        directory.vault.erase(by: log)
        vacuumed = Mutex(directory.vault.generation)
        do {
            follower = LogFollower(
                journal,
                into: directory.log,
                vaultPosition: try directory.vaultPosition()
            ) { batch in
                // Whoever finds a record finds its names.
                try directory.vault.follow(batch.newStreams)
                return try directory.log.append(batch)
            }
        } catch {
            open.close(after: error)
            throw error
        }
    }

    /// Milliseconds of a clock that nobody sets and that goes on while the machine sleeps.
    var now: Int64 {
        let passed = began.duration(to: .now).components
        // Fits: a machine does not run for as long as 64 bits of milliseconds.
        return passed.seconds * 1000 + passed.attoseconds / 1_000_000_000_000_000
    }

    /// Copies until the log has a size, and the vault the keys of a generation.
    func reach(_ size: UInt64, generation: UInt64) throws {
        let directory = open.directory
        while try directory.log.end().size < size || directory.vault.generation < generation {
            _ = try copy()
        }
    }

    // MARK: Its thread

    /// Follows and leads until it is told to end; blocks its thread.
    ///
    /// `tell`: told, in a sentence, what keeps it from following; a database's own names host and role.
    package func run(tell: (String) -> Void = { _ in }, isEnded: () -> Bool) {
        var watch = LeaseWatch()
        while !isEnded(), endReason == nil {
            do {
                if let leader = log.leading {
                    try goOnLeading(leader)
                } else if let refusal = try goOnFollowing(&watch) {
                    note(refusal, tell)
                    continue
                }
                state.withLock { $0.fault = nil }
            } catch {
                note(error, tell)
                if log.leading?.isLeading == false { follow() }
                // Nobody would see what is written to such a file; the cluster holds all of it.
                if (error as? LogStorageFault)?.code == .replaced { _ = noteDamage() }
                if (error as? JournalFault)?.code == .otherHistory { tellOthers() }
                // Where a notification came meanwhile there is nothing to do yet.
                _ = wake.wait(timeout: .now() + .milliseconds(Self.pauseMilliseconds))
            }
        }
    }

    /// - Returns: why this node does not lead though nobody does; nil: nothing keeps it.
    private func goOnFollowing(_ watch: inout LeaseWatch) throws -> JournalFault? {
        let (row, readAt, seenAt, isWhole) = try copy()
        try lookAtCommonFiles()
        guard isWhole else { return nil }
        var refusal: JournalFault?
        if watch.note(row.lease, readAt: readAt, seenAt: seenAt) {
            try requireNobodyBeyond()
            try requireClock()
            refusal = try lead(after: row.lease)
            if isLeading { return nil }
        }
        if let announced = try journal.awaitChange(milliseconds: Self.pollMilliseconds) {
            follower.note(announced)
        }
        return refusal
    }

    /// Copies what is confirmed of one page.
    ///
    /// - Returns: the row, when its read began and when it had ended, and whether this node has all that is
    ///   confirmed.
    @discardableResult
    func copy() throws -> (row: JournalRow, readAt: Int64, seenAt: Int64, isWhole: Bool) {
        let readAt = now
        let page: JournalPage
        do {
            page = try follower.read()
        } catch let fault as JournalFault where fault.code == .otherHistory {
            // It answered, with what this node cannot follow.
            state.withLock { $0.heardAt = readAt }
            throw fault
        }
        let seenAt = now
        state.withLock { $0.heardAt = readAt }
        if page.row.end.generation != open.directory.vault.generation {
            // What the page holds of the vault is sealed under keys that are not here yet.
            try followErasure(to: page.row.end.generation)
        } else if try !page.batches.isEmpty
            || page.row.end.size != open.directory.log.end().size
        {
            // Also where none came of what the row says: one is missing then, which the follower says.
            try open.ledger.appender.follow { try follower.copy(page) }
        }
        let size = try open.directory.log.end().size
        state.withLock { $0.note(page.row, contactAt: readAt, having: size) }
        return (page.row, readAt, seenAt, size >= follower.confirmed.size)
    }

    /// Makes sure that what this node would record has times that others agree with, and that are believed here
    /// (T3).
    private func requireClock() throws {
        let difference = try journal.clock() - clock().milliseconds  // Fits: both are of this age.
        guard abs(difference) <= JournalLease.clockTolerance else {
            throw JournalFault(
                .clockDiffers,
                "the database's clock differs from this machine's by \(abs(difference) / 1000) seconds"
            )
        }
        try open.ledger.appender.requireClock()
    }

    /// - Returns: why the journal did not take it; nil: it did, or another one was faster.
    private func lead(after lease: JournalLease) throws -> JournalFault? {
        var randomness = RandomSource.system
        let takenAt = now
        let outcome = journal.take(
            over: lease,
            as: LeaderID(using: &randomness),
            node: name,
            address: address
        )
        let end: JournalEnd
        let leadership: Leadership
        switch outcome {
        case .committed(let reached, let taken): (end, leadership) = (reached, taken)
        case .refused(let fault): return fault.code == .deposed ? nil : fault
        case .unknown(let text): return JournalFault(.unavailable, text)
        }
        // What the row says behind a synchronous commit is durable, all of it.
        follower.note(confirmed: end)
        try reach(end.size, generation: end.generation)
        try log.followCheckpoints()
        let leader = try LeaderLog(
            journal,
            over: open.directory.log,
            as: leadership,
            from: end,
            randomness: .system
        )
        state.withLock { state in
            state.renewedAt = takenAt
            state.mayOweErasure = true
        }
        log.lead(by: leader)
        state.withLock(\.hasLed)?()
        try resumeErasure()
        return nil
    }

    private func goOnLeading(_ leader: LeaderLog) throws {
        guard leader.isLeading else { return follow() }
        let due = state.withLock(\.renewedAt) + Self.renewalInterval
        let wait = max(0, due - now)
        if wait > 0, wake.wait(timeout: .now() + .milliseconds(Int(wait))) == .success {
            // One announcement is enough for all that was appended meanwhile.
            while wake.wait(timeout: .now()) == .success {}
            // A hint: who does not hear it looks by itself, and the next renewal says it too.
            try? journal.announce(leader.announcement)
            return
        }
        try renew(leader)
        let row = try journal.row()
        state.withLock { $0.note(row, contactAt: $0.renewedAt, having: row.end.size) }
        // As above.
        try? journal.announce(leader.announcement)
        try lookAtCommonFiles()
        if state.withLock(\.mayOweErasure) { try resumeErasure() }
        vacuumBehind()
    }

    private func renew(_ leader: LeaderLog) throws {
        let beganAt = now
        try leader.renew()
        state.withLock { $0.renewedAt = max($0.renewedAt, beganAt) }
    }

    /// Leads no more; what it appended stands, and what is in doubt is copied if it does.
    private func follow() {
        log.follow()
        // Counted anew with the next page, if it fails now.
        if let position = try? open.directory.vaultPosition() {
            follower.note(vaultPosition: position)
        }
    }

    /// Notes a word for what keeps it from following, and tells more of it once.
    private func note(_ error: any Error, _ tell: (String) -> Void) {
        let (word, text) =
            switch error {
            case let fault as JournalFault: (fault.code.rawValue, fault.message)
            case let fault as LogStorageFault: (fault.code.rawValue, fault.message)
            case let fault as LedgerOpenFault: (fault.code.rawValue, fault.message)
            case let fault as LedgerFault: (fault.code.rawValue, fault.message)
            default: ("internal", "\(type(of: error))")
            }
        let isNew = state.withLock { state in
            defer { state.fault = word }
            return state.fault != word
        }
        if isNew { tell("the cluster is not followed, or not led (\(word)): \(text)") }
    }

    /// Whom to tell whenever this node begins to lead, on its thread.
    package func whenLeading(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.hasLed = body }
    }

    // MARK: Outcomes

    /// Whether this node leads.
    package var isLeading: Bool { log.leading?.isLeading == true }

    /// Makes sure that this node led when an outcome was decided that appends nothing: such a one counts
    /// for four seconds from the beginning of a renewal that was confirmed.
    ///
    /// May block for the journal.
    ///
    /// - Throws: `LogStorageFault.noLeader`, `outcomeUnknown`.
    package func confirmLease() throws {
        guard let leader = log.leading, leader.isLeading else {
            throw LogStorageFault(.noLeader, "this node does not lead the cluster")
        }
        if now - state.withLock(\.renewedAt) < Self.outcomeLimit { return }
        try renew(leader)
    }
}

extension ClusterNode.State {
    /// Notes the row, and whether this node lacks anything of what it knows to be somewhere (row Z17).
    ///
    /// Where nobody leads for the length of a lease this may be a database that another one took over from.
    /// `size`: what it has by now.
    fileprivate mutating func note(_ row: JournalRow, contactAt: Int64, having size: UInt64) {
        self.row = row
        heardAt = contactAt
        self.contactAt = contactAt
        let (term, beat) = (row.lease.leadership.term, row.lease.beat)
        if moved.map({ $0.term != term || $0.beat != beat }) ?? true {
            moved = (term, beat, contactAt)
        }
        // Fits: both are times since this node's start.
        let readAt = min(contactAt, (moved?.readAt ?? 0) + LeaseWatch.duration)
        // The ledger goes on elsewhere, or a machine has what the database lost; who that may be is not known yet.
        let hasAll =
            !row.lease.isLast && !members.all.isEmpty
            && !members.all.contains { row.end.lacks($0.size, generation: $0.generation) }
        guard hasAll else { return sought = nil }
        if size >= row.end.size {
            wholeAt = readAt
            sought = nil
        } else {
            // While others append there is always something on its way.
            if let sought, size >= sought.size { wholeAt = max(wholeAt ?? 0, sought.readAt) }
            if sought.map({ size >= $0.size }) ?? true { sought = (row.end.size, readAt) }
        }
    }
}
