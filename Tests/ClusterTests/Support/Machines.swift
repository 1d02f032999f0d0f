import Dispatch
import Encodings
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

/// Has two machines of a cluster of their own, both open, neither running.
func withMachines(_ body: (Machines) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory
        .appending(path: "cluster-nodes-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let machines = try Machines(folder.path)
    do {
        try await body(machines)
    } catch {
        await machines.end()
        throw error
    }
    await machines.end()
}

/// Machines of one cluster, each in a directory of its own.
final class Machines: Sendable {
    private let folder: String
    let schema: JournalSchema
    private let opened = Mutex<[Machine]>([])

    init(_ folder: String) throws {
        self.folder = folder
        schema = PostgresServers.newSchema()
        try Ledger.create(at: folder + "/a")
        let catalog =
            #"{"tiers":["free","pro"],"features":[{"id":"export","level":"pro"}],"products":[]}"#
        try OpenLedger(at: folder + "/a").lend(warn: { _ in }) { open in
            _ = try open.ledger.appender.publish(
                JSONValue(parsing: Array(catalog.utf8)),
                effective: nil,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            _ = try open.directory.load(
                into: JournalMaker(PostgresServers.place(), schema: schema),
                allowsAsynchronous: false
            )
        }
        try LedgerDirectory.markNode(at: folder + "/a")
        try makeRoom("b")
        for name in ["a", "b"] { _ = try open(name) }
    }

    /// Makes the directory of another machine, with nothing but the master key.
    func makeRoom(_ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: path(name),
            withIntermediateDirectories: true
        )
        try FileManager.default.copyItem(atPath: path("a") + "/key", toPath: path(name) + "/key")
    }

    subscript(place: Int) -> Machine { opened.withLock { $0[place] } }

    func path(_ name: String) -> String { folder + "/" + name }

    /// Opens one, which does not run yet.
    ///
    /// `place`: whose directory it has; nil: its own. `user`: the role by which it reaches the database. `patience`:
    /// milliseconds until it gives a change up. `ahead`: how far its clock is, in milliseconds.
    func open(
        _ name: String,
        at place: String? = nil,
        as user: String = "postgres",
        contactSeconds: Int64 = ClusterFile.standardContactSeconds,
        patience: Int64? = nil,
        ahead: @escaping @Sendable () -> Int64 = { 0 }
    ) throws -> Machine {
        var limits = PostgresJournal.Limits()
        if let patience { limits.changeMilliseconds = patience }
        let path = path(place ?? name)
        var options = OpenLedger.Options(key: .file(path + "/key"))
        options.clock = { SystemClock.now().advanced(byMilliseconds: ahead()) }
        let node = try ClusterNode.open(
            at: path,
            as: file(of: name, contactSeconds: contactSeconds),
            of: PostgresJournal(
                PostgresServers.place(user: user),
                schema: schema,
                limits: limits
            ),
            options: options,
            tell: { _ in }
        )
        let machine = Machine(name, node)
        opened.withLock { $0.append(machine) }
        return machine
    }

    private func file(
        of name: String,
        contactSeconds: Int64 = ClusterFile.standardContactSeconds
    ) -> ClusterFile {
        ClusterFile(
            postgres: "",
            schema: nil,
            node: name,
            address: "http://\(name).example",
            contactSeconds: contactSeconds
        )
    }

    var journal: PostgresJournal { PostgresJournal(PostgresServers.place(), schema: schema) }

    /// Ends the cluster, whose ledger goes on in one directory.
    func leave(_ name: String) throws -> UInt64 {
        try file(of: name).write(toLedgerAt: path(name))
        return try ClusterNode.leave(
            at: path(name),
            as: file(of: name),
            of: journal,
            tellingIn: PostgresDeliveries(PostgresServers.place(), schema: schema),
            options: OpenLedger.Options(key: .file(path(name) + "/key")),
            tell: { _ in }
        )
    }

    func audit(_ name: String) throws -> AuditAnswer {
        let options = OpenLedger.Options(key: .file(path(name) + "/key"), isReadOnly: true)
        return try OpenLedger(at: path(name), options: options).lend(warn: { _ in }) {
            try $0.ledger.auditor.audit(.everything)
        }
    }

    /// Has the first lead and the other one follow, and both know some grants.
    func begin(granting count: Int) async throws -> (leader: Machine, follower: Machine) {
        let (leader, follower) = (self[0], self[1])
        leader.begin()
        try await eventually("a leader") { leader.node.isLeading }
        follower.begin()
        for number in 0..<count { #expect(try leader.grant(number).isAppended) }
        let size = try leader.size()
        try await eventually("the other one to know") { try follower.size() == size }
        return (leader, follower)
    }

    func end() async { for machine in opened.withLock(\.self) { await machine.end() } }
}

/// One machine, with the thread that it follows and leads on.
final class Machine: Sendable {
    let name: String
    let node: ClusterNode
    private let state = Mutex((isRunning: false, hasEnded: false))
    private let isEnding = Atomic(false)
    private let ended = DispatchSemaphore(value: 0)

    init(_ name: String, _ node: ClusterNode) { (self.name, self.node) = (name, node) }

    static func customer(_ number: Int) throws -> CustomerID {
        try #require(CustomerID("customer \(number)"))
    }

    func begin() {
        state.withLock { $0.isRunning = true }
        isEnding.store(false, ordering: .releasing)
        DispatchQueue(label: "machine").async { [self] in
            node.run { isEnding.load(ordering: .acquiring) }
            ended.signal()
        }
    }

    /// Ends its thread alone: it hangs, as others see it.
    func halt() async {
        let isRunning = state.withLock { state in
            defer { state.isRunning = false }
            return state.isRunning
        }
        isEnding.store(true, ordering: .releasing)
        if isRunning { await onThread { self.ended.wait() } }
    }

    func end() async {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        guard isFirst else { return }
        await halt()
        await onThread { self.node.resign() }
        #expect(throws: Never.self) { try node.open.close() }
    }

    func size() throws -> UInt64 { try node.open.ledger.questions.size() }

    /// Grants something.
    ///
    /// `again`: another grant than the first. `customer`: whose it is; nil: that of the same number.
    func grant(
        _ number: Int,
        again: Bool = false,
        to customer: Int? = nil,
        until end: Instant? = nil
    ) throws -> Receipt {
        let id = (again ? "again" : "g") + "\(number)"
        return try node.open.ledger.appender.grant(
            id,
            to: try Self.customer(customer ?? number),
            features: [],
            tier: "pro",
            expiresAt: end,
            reason: "a test",
            Request(id: id, source: Source.support, environment: .production)
        )
    }

    func mayUse(_ number: Int) throws -> Bool {
        let point = BitemporalPoint(at: SystemClock.now(), knownAt: .everything)
        let question = CustomerQuestion(
            customer: try Self.customer(number),
            environment: .production,
            point: point
        )
        guard case .explained(let why) = try node.open.ledger.questions.explain("export", question)
        else { return false }
        return why.access.isAllowed
    }
}

extension Receipt {
    var isAppended: Bool { if case .appended = self { true } else { false } }
}
