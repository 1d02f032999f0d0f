import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations
import PostgresStorage
import Synchronization
import Testing

/// Several machines: what one records, the others answer; who ends, another one goes on for (row Z9).
extension `A cluster's journal in PostgreSQL` {
    @Test func `lets each machine answer what another one recorded, and go on where it ends`()
        async throws
    {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 5)
            let size = try first.size()
            for number in 0..<5 { #expect(try second.mayUse(number)) }
            #expect(try !second.mayUse(5))
            // Who follows appends nothing.
            #expect { try second.grant(6) } throws: {
                ($0 as? LogStorageFault)?.code == .noLeader
            }
            #expect(try second.size() == size)
            await first.end()
            try await eventually("the other one to lead") { second.node.isLeading }
            // What was reserved while it followed is no hindrance.
            for number in 6..<9 { #expect(try second.grant(number).isAppended) }
            let again = try machines.open("a")
            again.begin()
            try await eventually("the first to follow") { try again.size() == second.size() }
            for number in [0, 4, 6, 7, 8] { #expect(try again.mayUse(number)) }
            for machine in [again, second] {
                await machine.end()
                let answer = try machines.audit(machine.name)
                #expect(answer.faults.isEmpty)
            }
        }
    }

    // Row Z17: it goes on answering, and says so.
    @Test func `says how old its answers are where it hears of nobody`() async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 1)
            for machine in [first, second] {
                try await eventually("no age") { machine.node.answerAge == nil }
            }
            await second.halt()
            try await eventually("an age") { second.node.answerAge ?? 0 >= 5 }
            #expect(try second.mayUse(0))
            second.begin()
            try await eventually("no age again") { second.node.answerAge == nil }
        }
    }

    // An old primary beside one that took over answers the same again and again.
    @Test func `says how old its answers are where nobody leads`() async throws {
        try await withMachines { machines in
            let first = machines[0]
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            await machines[1].end()
            // By its clock it takes no lease.
            let second = try machines.open("b", ahead: { 120_000 })
            second.begin()
            try await eventually("no age") { second.node.answerAge == nil }
            await first.halt()
            try await eventually("an age") { second.node.answerAge ?? 0 >= 5 }
            #expect(!second.node.isLeading)
            try await eventually("it hears of the database all the same") {
                try second.node.standing().contactAge ?? .max < 5000
            }
        }
    }

    // A number that a machine reserved may be another name's by the time that it leads.
    @Test func `has nothing recorded under a name that was given up`() async throws {
        try await withMachines { machines in
            let (first, second) = (machines[0], machines[1])
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            second.begin()
            // Decided, with streams reserved, where nobody leads.
            let submission = try Self.submission(100)
            let appender = try second.node.open.ledger.appender
            let decided = try appender.decide(submission, recordedAt: nil, in: nil)
            for number in 0..<3 { #expect(try first.grant(number).isAppended) }
            let size = try first.size()
            try await eventually("the other one to know") { try second.size() == size }
            await first.end()
            try await eventually("the other one to lead") { second.node.isLeading }
            #expect(try appender.record([decided])[0].isAppended)
            for number in [0, 1, 2, 100] { #expect(try second.mayUse(number), "\(number)") }
            await second.end()
            let answer = try machines.audit(second.name)
            #expect(answer.faults.isEmpty)
        }
    }

    @Test func `fills a copy again that is damaged, and no other ledger's directory`() async throws
    {
        try await withMachines { machines in
            let first = machines[0]
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            for number in 0..<3 { #expect(try first.grant(number).isAppended) }
            let size = try first.size()
            try await machines.confirmed(size)
            await machines[1].end()
            let place = machines.path("b")
            for damage in Damage.allCases {
                try damage.befall(place)
                let again = try machines.open("b")
                #expect(try again.size() == size, "\(damage)")
                #expect(try again.mayUse(2))
                await again.end()
            }
            // Whoever copies it reads it, with its last checkpoint.
            try Signing.openCheckpointed(warn: { _ in }) { writing in
                let key = MasterKeySource.file(place + "/key")
                return try OpenLedger(at: place, options: .init(key: key, isReadOnly: !writing))
            }
            .lend(warn: { _ in }) { #expect($0.ledger.isReadOnly) }
            // Alone it is read and not written to.
            #expect {
                try Ledger.open(at: place, options: .init(key: .file(place + "/key")))
            } throws: { ($0 as? LedgerOpenFault)?.code == .clustered }
            // What is no copy of this cluster stays as it is.
            let other = machines.path("c")
            try Ledger.create(at: other)
            #expect { try machines.open("c") } throws: {
                ($0 as? OperationFault)?.code == .configuration
            }
            #expect(try Ledger.open(at: other).questions.size() == 0)
            // Nor is one filled again that is a copy of another cluster's.
            try LedgerDirectory.markNode(at: other)
            #expect { try machines.open("c") } throws: {
                ($0 as? OperationFault)?.code == .configuration
            }
            #expect(FileManager.default.fileExists(atPath: other + "/log/data.mdb"))
        }
    }

    // Nobody would see what is written to it from then on.
    @Test func `ends a machine whose copy is removed while it runs`() async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 1)
            let place = machines.path("b")
            try FileManager.default.removeItem(atPath: place + "/log/data.mdb")
            #expect(try first.grant(1).isAppended)
            try await eventually("an end, and a note of it") {
                second.node.endReason == .damage && LedgerDirectory.needsRefill(at: place)
            }
            #expect(first.node.endReason == nil)
            await second.end()
            try await machines.confirmed(first.size())
            let again = try machines.open("b")
            #expect(try again.size() == first.size() && again.mayUse(1))
        }
    }

    // Nothing comes behind a batch that is gone: who follows would look again and again, and say nothing.
    @Test func `says so where the last batch is missing`() async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 2)
            let size = try second.size()
            await second.halt()
            #expect(try first.grant(2).isAppended)
            let place = machines.schema.name + ".batch"
            try PostgresServers.sql(
                "DELETE FROM \(place) WHERE first = (SELECT max(first) FROM \(place))"
            )
            second.begin()
            try await eventually("it to say so") {
                try second.node.standing().fault == "damaged"
            }
            #expect(try second.size() == size && second.mayUse(1))
        }
    }

    // As behind a promotion: one of the two, database or machine, has another time.
    @Test(arguments: [-3_600_000, 3_600_000] as [Int64])
    func `is not led by whoever has another time, nor left by who leads`(
        _ ahead: Int64
    ) async throws {
        try await withMachines { machines in
            let first = machines[0]
            await machines[1].end()
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            let apart = Mutex(ahead)
            let second = try machines.open("b") { apart.withLock(\.self) }
            second.begin()
            for number in 0..<3 { #expect(try first.grant(number).isAppended) }
            let size = try first.size()
            try await eventually("the other one to know") { try second.size() == size }
            await first.end()
            try await eventually("it to say so") {
                try second.node.standing().fault == "clock_differs"
            }
            #expect(try !second.node.isLeading && second.mayUse(2))
            // Its own time is asked first: one that is behind records nothing anyway.
            #expect { try second.grant(4) } throws: {
                ($0 as? LogStorageFault)?.code == .noLeader
                    || ($0 as? LedgerFault)?.code == .clockBehind
            }
            // The control: once it has the same time it leads, and goes on when that changes.
            apart.withLock { $0 = 0 }
            try await eventually("it to lead") { second.node.isLeading }
            #expect(try second.grant(5).isAppended)
            apart.withLock { $0 = 120_000 }
            try await Task.sleep(for: .seconds(3))
            #expect(second.node.isLeading)
            #expect(try second.grant(6).isAppended)
        }
    }

    // Nothing of a copy is waited for: what a machine's end left open is made again, unread.
    @Test(arguments: [true, false])
    func `fills again a copy that was open when the machine ended`(
        _ hasEnded: Bool
    ) async throws {
        try await withMachines { machines in
            let (first, second) = try await machines.begin(granting: 3)
            try await machines.confirmed(first.size())
            let mark = machines.path("b") + "/unclean"
            #expect(try String(contentsOfFile: mark, encoding: .utf8) == SystemClock.bootID)
            await second.end()
            #expect(!FileManager.default.fileExists(atPath: mark), "its end was waited for")
            let long = Date(timeIntervalSince1970: 1_000_000_000)
            try machines.setMade("b", long)
            let boot = hasEnded ? "another" : SystemClock.bootID
            try Data(boot.utf8).write(to: URL(filePath: mark))
            if hasEnded {
                // The mark alone says so: what the disk had not taken may end who reads it.
                var options = OpenLedger.Options(key: .file(machines.path("b") + "/key"))
                options.isReadOnly = true
                #expect { _ = try OpenLedger(at: machines.path("b"), options: options) } throws: {
                    ($0 as? LogStorageFault)?.code == .damaged
                }
            }
            let again = try machines.open("b")
            #expect(try again.size() == first.size())
            #expect(try (machines.made("b") != long) == hasEnded)
            for number in 0..<3 { #expect(try again.mayUse(number)) }
        }
    }

    // T3: a machine whose appends would wait for its clock leaves the lease to others. Four minutes are the control.
    @Test(arguments: [(240_000, true), (600_000, false)] as [(Int64, Bool)])
    func `is led by whoever believes its own clock`(
        _ ahead: Int64,
        _ leads: Bool
    ) async throws {
        try await withMachines { machines in
            await machines[0].end()
            let apart = Mutex(Int64(0))
            let first = try machines.open("a") { apart.withLock(\.self) }
            let second = machines[1]
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            // Set while it leads: what it records lies ahead of every other clock.
            apart.withLock { $0 = ahead }
            #expect(try first.grant(0).isAppended)
            let size = try first.size()
            await first.end()
            second.begin()
            if leads {
                try await eventually("the other one to lead") { second.node.isLeading }
                #expect(try second.grant(1).isAppended)
            } else {
                try await eventually("it to say so") {
                    try second.node.standing().fault == "clock_behind"
                }
                #expect(try !second.node.isLeading && second.size() == size)
            }
        }
    }

    // A machine that hung does not know that another one leads.
    @Test func `gives no outcome of a machine that leads no more`() async throws {
        try await withMachines { machines in
            let (first, second) = (machines[0], machines[1])
            first.begin()
            try await eventually("a leader") { first.node.isLeading }
            #expect(throws: Never.self) { try first.node.confirmLease() }
            await first.halt()
            second.begin()
            try await eventually("the other one to lead") { second.node.isLeading }
            #expect(first.node.isLeading, "it has not heard of it")
            #expect { try first.node.confirmLease() } throws: {
                ($0 as? LogStorageFault)?.code == .noLeader
            }
            #expect(!first.node.isLeading)
        }
    }

    // Whom an erasure took, a machine that hears nothing cannot know.
    @Test func `ends a machine that does not hear of it for long`() async throws {
        try await withMachines { machines in
            try PostgresServers.sql("DROP ROLE IF EXISTS lonely")
            try PostgresServers.sql("CREATE ROLE lonely SUPERUSER LOGIN")
            let first = machines[0]
            first.begin()
            await machines[1].end()
            let alone = try machines.open("b", as: "lonely", contactSeconds: 2)
            alone.begin()
            try await Task.sleep(for: .seconds(3))
            #expect(alone.node.endReason == nil)
            try PostgresServers.sql("ALTER ROLE lonely NOLOGIN")
            try PostgresServers.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'lonely'"
            )
            try await eventually("an end") { alone.node.endReason == .solitude }
            #expect(first.node.endReason == nil)
        }
    }

    /// A grant of a feature, as an event.
    private static func submission(_ number: Int) throws -> Submission {
        Submission(
            id: "g\(number)",
            source: Source.support,
            environment: .production,
            nature: .request,
            drafts: [
                EventDraft(
                    subject: .customer(try Machine.customer(number)),
                    time: Instant(milliseconds: 1_767_225_600_000),
                    data: EventData(
                        .grantGiven,
                        [.grantID: .text("g\(number)"), .tier: .text("pro")]
                    )
                )
            ],
            evidenceParts: nil
        )
    }
}

/// What befalls a machine's copy.
private enum Damage: CaseIterable {
    /// Somebody noted it.
    case noted
    case withoutLog
    /// As one that was stopped being filled.
    case withoutManifest
    case shortManifest, shortKeys, otherKeys
    /// A byte of the generation, which stands in clear.
    case laterKeys

    func befall(_ path: String) throws {
        let (manifest, keys) = (path + "/ledger.json", path + "/vault/epoch-keys")
        switch self {
        case .noted: try LedgerDirectory.markRefill(at: path, of: nil)
        case .withoutLog: try FileManager.default.removeItem(atPath: path + "/log/data.mdb")
        case .withoutManifest: try FileManager.default.removeItem(atPath: manifest)
        case .shortManifest: try Self.change(manifest) { $0.removeLast($0.count / 2) }
        case .shortKeys: try Self.change(keys) { $0.removeLast($0.count - 8) }
        case .otherKeys: try Self.change(keys) { $0[0] ^= 1 }
        case .laterKeys: try Self.change(keys) { $0[8] ^= 1 }
        }
    }

    private static func change(_ file: String, _ body: (inout [UInt8]) -> Void) throws {
        var bytes = Array(try Data(contentsOf: URL(filePath: file)))
        body(&bytes)
        try Data(bytes).write(to: URL(filePath: file))
    }
}

extension Machines {
    /// Waits until the cluster's row says that so much is confirmed: with the leader's next renewal.
    fileprivate func confirmed(_ size: UInt64) async throws {
        let journal = journal
        try await eventually("all to be confirmed") { try journal.row().confirmedSize == size }
    }

    /// When a copy was made; settable, so that one that is made again is told from it.
    fileprivate func made(_ name: String) throws -> Date? {
        try FileManager.default.attributesOfItem(atPath: path(name) + "/ledger.json")[
            .modificationDate
        ] as? Date
    }

    fileprivate func setMade(_ name: String, _ date: Date) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: date],
            ofItemAtPath: path(name) + "/ledger.json"
        )
    }
}
