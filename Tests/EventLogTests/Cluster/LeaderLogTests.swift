import EventLog
import Testing

/// What a node that leads a cluster appends by.
struct `A leader's log` {
    // Nobody would finish the erasure while it leads on.
    @Test(arguments: [true, false])
    func `leads on behind a lost answer only where a renewal tells what became of it`(
        _ isRenewed: Bool
    ) throws {
        let begun = JournalEnd(
            size: 0,
            root: LogEnd.empty.edge.root,
            vaultPosition: 0,
            generation: 0
        )
        var end = begun
        end.generation = 1
        let leadership = Leadership(
            term: 1,
            leader: LeaderID([UInt8](repeating: 1, count: LeaderID.byteCount))
        )
        let journal = LostAnswer(
            renewal: isRenewed ? .committed(end, leadership) : .refused(LostAnswer.fault)
        )
        let leader = try LeaderLog(
            journal,
            over: MemoryLog(),
            as: leadership,
            from: begun,
            randomness: .system
        )
        var isWritten = false
        func rotate() throws {
            let rotation = VaultRotation(generation: 1, keys: [], items: [])
            try leader.rotate(rotation, of: 0, insteadOf: []) { isWritten = true }
        }
        if isRenewed {
            try rotate()
        } else {
            #expect(throws: LogStorageFault.self) { try rotate() }
        }
        #expect(leader.isLeading == isRenewed && isWritten == isRenewed)
    }
}

/// A cluster's database whose answer to an erasure is lost.
private struct LostAnswer: ClusterJournal {
    /// What it answers to the renewal that settles the doubt.
    var renewal: JournalOutcome

    static let fault = JournalFault(.unavailable, "a database that is not reached")

    func rotate(
        _ rotation: VaultRotation,
        insteadOf keys: [UInt8],
        decidedOn known: JournalEnd,
        as leadership: Leadership
    ) -> JournalOutcome { .unknown("no answer came") }

    func renew(
        _ leadership: Leadership,
        as leader: LeaderID,
        confirmed: JournalEnd?
    ) -> JournalOutcome { renewal }

    func append(
        _ batch: JournalBatch,
        endingAt end: LogEnd,
        decidedOn known: JournalEnd,
        as leadership: Leadership
    ) -> JournalOutcome { .refused(Self.fault) }

    func resign(_ leadership: Leadership, confirmed: JournalEnd) -> JournalOutcome {
        .refused(Self.fault)
    }

    func take(
        over lease: JournalLease,
        as leader: LeaderID,
        node: String,
        address: String
    ) -> JournalOutcome { .refused(Self.fault) }

    func end(
        _ lease: JournalLease,
        as leader: LeaderID,
        node: String,
        confirmed: JournalEnd?
    ) -> JournalOutcome { .refused(Self.fault) }

    func row() throws -> JournalRow { throw Self.fault }
    func clock() throws -> Int64 { throw Self.fault }
    func page(from first: UInt64, vaultAfter position: UInt64) throws -> JournalPage {
        throw Self.fault
    }
    func awaitChange(milliseconds: Int) -> JournalAnnouncement? { nil }
    func announce(_ announcement: JournalAnnouncement) {}
}
