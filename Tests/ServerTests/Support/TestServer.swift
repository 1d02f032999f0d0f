import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Stores
import Synchronization

@testable import LedgerServer

/// A server over a ledger in memory, with keys of every kind and an issuer of tokens.
struct TestServer: Sendable {
    let ledger: Ledger
    /// What the ledger stands on, to be made to fail.
    let storage: FaultyLog
    let service: LedgerService
    /// What it was made with.
    let options: LedgerServer.Options
    let client: any TestClientProtocol
    let clock: TestClock
    let log: LogLines
    /// Holds every answer against the interface description.
    let audit = AnswerAudit()
    /// The text of a key with a scope.
    let keys: [Scope: String]
    /// Threads that wait for the disk.
    static let threadCount = 4
    /// The text of a key that may write and is support's.
    let supportKey: String
    /// The text of a key that audits and is support's.
    let auditorKey: String
    /// Where its keys stand.
    let folder: KeyFolder
    private let issuer: TokenIssuer

    /// What can be set before it starts.
    struct Setup: Sendable {
        var stores = StoreAccess()
        var quotas: [RateLimitPolicy: RateLimitQuota] = [:]
        /// Read-only, over what this writes first; nil: writable.
        var readsOnly: (@Sendable (Ledger) throws -> Void)?
        /// Over a socket, not only in process.
        var isLive = false
        var deadlines = Self.patient
        /// Checkpoints and hash tiles are for everybody.
        var isLogPublic = false
        /// Read-only although it was to be written to.
        var isReadOnlyByFault = false
        /// Audits in place of the ledger's own.
        var audit: LedgerServer.Auditing?
        /// What tells the ledger whether its clock is to be believed.
        var witness = ClockWitness.trusting
        /// Whatever else is set.
        var adjust: @Sendable (inout LedgerServer.Options) -> Void = { _ in }

        /// The client has one connection for a whole test, opened before its first request, and
        /// opens no other: on a busy machine it waits longer than servers let clients wait.
        private static var patient: RequestDeadline.Limits {
            var limits = RequestDeadline.Limits()
            limits.head = .hours(1)
            limits.pause = .hours(1)
            limits.idle = .hours(1)
            return limits
        }
    }

    /// Lends a server; without quotas unless some are given.
    ///
    /// When the body ends, every answer that it got must be documented, and no line of the log may
    /// name anybody (law 6).
    static func with(
        _ setup: Setup = Setup(),
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await KeyFolder.with { folder in
            var keys: [Scope: String] = [:]
            var records: [APIKey] = []
            for (seed, scope) in Scope.allCases.enumerated() {
                let sample = APIKey.sample(UInt64(seed), scopes: [scope])
                keys[scope] = sample.text
                records.append(sample.key)
            }
            let support = APIKey.sample(100, scopes: [.write, .support])
            let auditor = APIKey.sample(101, scopes: [.audit, .support])
            records += [support.key, auditor.key]
            try folder.write(records)
            let issuer = try await TokenIssuer.es256()
            let clock = TestClock()
            let log = LogLines()
            let storage = FaultyLog()
            let ledger = try Self.ledger(
                folder.path,
                storage,
                clock,
                setup.witness,
                setup.readsOnly
            )
            let count = Atomic<Int>(0)
            let counter = Counter(count)
            var options = LedgerServer.Options(
                ledger: ledger,
                keys: try folder.ring(),
                logger: log.logger(),
                clock: { clock.now },
                makeID: { "r-\(counter.next())" },
                resolveTimeZones: { $0 }
            )
            // Tests begin all at once: a system ends a process with too many threads.
            options.threadCount = threadCount
            options.computingThreadCount = 2
            // On a busy machine a test takes longer than a minute.
            options.faultInterval = .seconds(86_400)
            options.confirmationLimit = .seconds(3600)
            options.quotas = setup.quotas
            options.trust.stores = setup.stores
            options.deadlines = setup.deadlines
            options.isLogPublic = setup.isLogPublic
            options.isReadOnlyByFault = setup.isReadOnlyByFault
            options.audit = setup.audit
            options.trust.customers = CustomerTokenVerifier(
                keys: try await TokenKeys(issuer.pem)
            )
            setup.adjust(&options)
            let service = LedgerService(options)
            let (all, made) = (keys, options)
            let application = try LedgerServer.application(options, service)
            try await application.test(setup.isLive ? .live : .router) { client in
                let server = TestServer(
                    ledger: ledger,
                    storage: storage,
                    service: service,
                    options: made,
                    client: client,
                    clock: clock,
                    log: log,
                    keys: all,
                    supportKey: support.text,
                    auditorKey: auditor.text,
                    folder: folder,
                    issuer: issuer
                )
                try await body(server)
                server.audit.expectNoFindings()
                log.expectNobody(among: server.audit.names)
            }
            try await service.stop()
            try ledger.close()
        }
    }

    private final class Counter: Sendable {
        private let count: Atomic<Int>
        init(_ count: consuming Atomic<Int>) { self.count = count }
        func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
    }

    private static func ledger(
        _ folder: String,
        _ storage: FaultyLog,
        _ clock: TestClock,
        _ witness: ClockWitness,
        _ fill: ((Ledger) throws -> Void)?
    ) throws -> Ledger {
        let vault = try MemoryVault(randomness: .system)
        func open(isReadOnly: Bool) throws -> Ledger {
            try Ledger(
                identity: LedgerIdentity(
                    id: Array(repeating: 7, count: 16),
                    origin: "ledger.test/log"
                ),
                log: storage,
                vault: vault,
                options: Ledger.Options(
                    viewsPath: folder + "/views",
                    bootID: "test",
                    isReadOnly: isReadOnly,
                    clock: { clock.now },
                    clockWitness: witness
                )
            )
        }
        guard let fill else { return try open(isReadOnly: false) }
        let writer = try open(isReadOnly: false)
        try fill(writer)
        try writer.close()
        return try open(isReadOnly: true)
    }

    /// A token of the configured issuer.
    func token(for customer: String) throws -> String {
        try issuer.token(for: customer, from: clock.now)
    }

    /// Publishes the sample catalog.
    func publishCatalog() throws { try Self.publishCatalog(in: ledger) }

    static func publishCatalog(in ledger: Ledger, policy: String = "keep") throws {
        let text = catalog.replacing(#""claim":"keep""#, with: #""claim":"\#(policy)""#)
        _ = try ledger.appender.publish(
            try JSONValue(parsing: Array(text.utf8)),
            effective: Instant(milliseconds: 1_577_836_800_000),
            EntitlementLedger.Request(id: "catalog", source: "catalog", environment: .production)
        )
    }

    /// Tiers free and pro; `scan` is free, three times a day; `export` is pro's.
    static let catalog = """
        {"tiers":["free","pro"],
         "features":[{"id":"export"},
           {"id":"scan","level":"free","limits":{"free":{
             "perUse":{"amount":30,"unit":"seconds"},
             "perPeriod":{"count":3,"period":"day","timeZone":"UTC"}}}}],
         "products":[{"id":"com.example.app.pro.month","kind":"auto_renewable",
                      "unlocks":{"tier":"pro"}}],
         "trials":[{"id":"week","days":7,"tier":"pro"}],
         "policy":{"claim":"keep"}}
        """
}

/// A clock that a test sets.
final class TestClock: Sendable {
    private let milliseconds = Atomic<Int64>(noon.milliseconds)

    var now: Instant {
        get { Instant(milliseconds: milliseconds.load(ordering: .sequentiallyConsistent)) }
        set { milliseconds.store(newValue.milliseconds, ordering: .sequentiallyConsistent) }
    }
}

/// An answer as a test looks at it.
struct TestAnswer: Sendable {
    var status: Int
    var headers: HTTPFields
    var body: String
    /// The body where it is not text.
    var bytes: [UInt8] = []

    var json: JSONValue { (try? JSONValue(parsing: Array(body.utf8))) ?? .null }
    var code: String? { json["code"]?.string }
}

extension TestServer {
    /// Sends a request.
    ///
    /// `credential`: what stands behind `Bearer`.
    func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        credential: String? = nil,
        headers: HTTPFields = [:],
        body: String? = nil
    ) async throws -> TestAnswer {
        var headers = headers
        if let credential {
            headers[.authorization] = "Bearer " + credential
            audit.add(name: credential)
        }
        if body != nil, headers[.contentType] == nil {
            headers[.contentType] = "application/json"
        }
        let answer = try await client.execute(
            uri: path,
            method: method,
            headers: headers,
            body: body.map { ByteBuffer(string: $0) }
        ) { response in
            TestAnswer(
                status: response.status.code,
                headers: response.headers,
                body: String(buffer: response.body),
                bytes: Array(response.body.readableBytesView)
            )
        }
        audit.look(at: answer, to: method, path, sent: body)
        return answer
    }

    /// Asks with the key of a scope.
    func get(_ path: String, as scope: Scope = .read) async throws -> TestAnswer {
        try await send(.get, path, credential: keys[scope])
    }

    /// Hands in JSON with the key of a scope.
    func post(
        _ path: String,
        _ body: String,
        as scope: Scope = .write,
        headers: HTTPFields = [:]
    ) async throws -> TestAnswer {
        try await send(.post, path, credential: keys[scope], headers: headers, body: body)
    }
}

extension TestServer {
    /// The accesses that stand in the log once it takes no more, from a sequence on, of one customer or of all.
    func noted(of customer: CustomerID? = nil, from size: UInt64 = 0) async throws -> [JSONValue] {
        try await service.accesses.stop()
        var filter = EventFilter(sequences: size ..< .max)
        filter.customer = customer
        filter.kind = .accessLogged
        var noted: [JSONValue] = []
        try ledger.questions.events(filter) { _, event in
            noted.append(event)
            return true
        }
        return noted
    }
}
