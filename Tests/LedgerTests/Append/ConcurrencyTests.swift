import Dispatch
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import ModelSupport
import Synchronization
import Testing

/// Many callers at once.
struct `A ledger that many threads use` {
    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.app, environment: .production)
    }

    private static func grant(
        _ ledger: Ledger,
        _ id: String,
        _ customer: CustomerID
    ) throws -> Receipt {
        try ledger.appender.grant(
            id,
            to: customer,
            features: ["export"],
            tier: nil,
            expiresAt: nil,
            reason: nil,
            request(id)
        )
    }

    // Storage, "Append": all that wait form one group
    @Test func `commits the requests of those who wait together`() async throws {
        try await withScratchDirectory { folder in
            let log = HeldLog()
            let ledger = try Ledger(over: log, viewsIn: folder)
            let count = 64
            let started = Atomic(0)
            log.hold(until: { started.load(ordering: .sequentiallyConsistent) == count })
            let receipts = try Concurrently.run(count) { index in
                started.wrappingAdd(1, ordering: .sequentiallyConsistent)
                return try Self.grant(ledger, "g\(index)", "u\(index)")
            }
            let firsts = receipts.compactMap { receipt -> UInt64? in
                guard case .appended(let first, 1) = receipt else { return nil }
                return first
            }
            #expect(Set(firsts) == Set(0..<UInt64(count)))
            #expect(log.commits < count, "\(log.commits) commits")
            // The control: one after the other, each has its own.
            let commits = log.commits
            for index in 0..<5 { _ = try Self.grant(ledger, "h\(index)", "u0") }
            #expect(log.commits == commits + 5)
            try ledger.close()
        }
    }

    // E3: what is not committed is told to each of those who waited for it
    @Test func `tells each of a group that its commit failed`() async throws {
        try await withScratchDirectory { folder in
            let log = HeldLog()
            let ledger = try Ledger(over: log, viewsIn: folder)
            log.fail(true)
            let failures = try Concurrently.run(16) { index in
                do {
                    _ = try Self.grant(ledger, "g\(index)", "u\(index)")
                    return false
                } catch let fault as LogStorageFault {
                    return fault.code == .full
                }
            }
            #expect(failures == Array(repeating: true, count: 16))
            #expect(try ledger.questions.size() == 0)
            log.fail(false)
            #expect(try Self.grant(ledger, "g0", "u0") == .appended(first: 0, count: 1))
            try ledger.close()
        }
    }

    // Blocking calls never run on threads that others share (Architecture, "Rules of the house").
    @Test func `reads and seals on the pool alone`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            let signal = SampleTransaction.make("1", token: "ann").facts
            let size = try ledger.questions.size()
            await #expect(throws: ClosedPool.Closed.self) {
                try await ledger.appender.record(concurrently: signal, on: ClosedPool())
            }
            #expect(try ledger.questions.size() == size, "nothing was done elsewhere")
            // The control: with a pool it is recorded.
            _ = try await ledger.appender.record(concurrently: signal)
            #expect(try ledger.questions.size() > size)
            // What the log says of a repeated one is read on it too.
            await #expect(throws: ClosedPool.Closed.self) {
                try await ledger.appender.record(concurrently: signal, on: ClosedPool())
            }
        }
    }

    /// A pool that takes nothing.
    private struct ClosedPool: BlockingPool {
        struct Closed: Error {}

        func submit(_ work: @escaping @Sendable ((any Error)?) -> Void) { work(Closed()) }
    }

    // E4: nobody is turned away because others are faster
    @Test(arguments: [64, 200])
    func `takes all signals that name one customer`(count: Int) async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            let receipts = try await withThrowingTaskGroup(of: Receipt.self) { group in
                for index in 0..<count {
                    var facts = SampleTransaction.make("\(index)", token: "ann").facts
                    facts.links = [
                        LinkProposal(
                            customer: "ann",
                            alias: "ann-\(index)",
                            time: Sample.newYear,
                            observedAt: Sample.newYear
                        )
                    ]
                    group.addTask { [facts] in try await ledger.appender.record(concurrently: facts)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let appended = receipts.count { if case .appended(_, 3) = $0 { true } else { false } }
            #expect(appended == count)
            #expect(try ledger.questions.size() == UInt64(3 * count))
            let show = try scratch.show("ann-7")
            #expect(show["purchases"]?.array?.count == count)
        }
    }

    // law 3, T4: four ask while four write; every answer is that of its prefix
    @Test func `gives each of them the answer of one prefix`() async throws {
        try await ScratchLedger.with { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.publish(
                try Sample.catalog(count: 10_000),
                effective: Sample.newYear,
                Self.request("catalog")
            )
            let at = scratch.clock.now
            let writers = Atomic(4)
            let seen = try Concurrently.run(8) { thread -> [Answer] in
                guard thread < 4 else {
                    var answers: [Answer] = []
                    var random = SplitMix64(seed: UInt64(thread))
                    repeat {
                        let customer: CustomerID = "u\(random.pick([0, 1, 2, 3]))"
                        answers.append(try Answer(asking: ledger, customer, at, random.chance(50)))
                        _ = try ledger.questions.can(
                            customer,
                            "export",
                            environment: .production,
                            at: at
                        )
                    } while writers.load(ordering: .sequentiallyConsistent) > 0
                    return answers
                }
                defer { writers.wrappingSubtract(1, ordering: .sequentiallyConsistent) }
                try Self.write(ledger, thread)
                return []
            }
            let answers = seen.flatMap { $0 }
            #expect(answers.count >= 4)
            // Asked again one by one, when nobody writes: the same bytes.
            for answer in answers.shuffled().prefix(300) {
                #expect(try answer.again(ledger, at) == answer.text)
            }
            for customer in 0..<4 {
                let allowed = try ledger.questions.can(
                    "u\(customer)",
                    "export",
                    environment: .production,
                    at: Sample.day(2)
                )
                #expect(allowed)
            }
            let differences = try ledger.auditor.replay(
                point: BitemporalPoint(at: at, knownAt: .everything),
                environment: .production
            ).differences
            #expect(differences.isEmpty)
            #expect(try ledger.auditor.audit().isOK)
        }
    }

    private static func write(_ ledger: Ledger, _ thread: Int) throws {
        for index in 0..<40 {
            let id = "\(thread)-\(index)"
            let customer: CustomerID = "u\(index % 4)"
            switch index % 5 {
            case 0:
                let transaction = SampleTransaction.make(id)
                _ = try ledger.appender.claim(transaction, for: customer, request("c" + id))
            case 1: _ = try grant(ledger, "g" + id, customer)
            case 2:
                _ = try ledger.appender.use(
                    "scan",
                    by: customer,
                    amount: 1,
                    unit: "seconds",
                    request("u" + id)
                )
            case 3:
                _ = try ledger.appender.record(
                    SampleTransaction.make("s" + id, token: customer).facts
                )
            default: _ = try ledger.appender.startTrial("week", for: customer, request("t" + id))
            }
        }
    }

    /// What was asked and answered.
    private struct Answer {
        var customer: CustomerID
        var size: UInt64
        var isHistory: Bool
        var text: String

        init(asking ledger: Ledger, _ customer: CustomerID, _ at: Instant, _ isHistory: Bool) throws
        {
            self.customer = customer
            self.isHistory = isHistory
            let json = try Self.ask(ledger, customer, at, .everything, isHistory)
            size = UInt64(json["sequence"]?.integer ?? 0)
            text = json.description
        }

        func again(_ ledger: Ledger, _ at: Instant) throws -> String {
            try Self.ask(ledger, customer, at, .sequence(size), isHistory).description
        }

        private static func ask(
            _ ledger: Ledger,
            _ customer: CustomerID,
            _ at: Instant,
            _ known: BitemporalPoint.Known,
            _ isHistory: Bool
        ) throws -> JSONValue {
            let question = CustomerQuestion(
                customer: customer,
                environment: .production,
                point: BitemporalPoint(at: at, knownAt: known)
            )
            return try isHistory
                ? ledger.questions.purchases(of: question).json
                : ledger.questions.show(question).json
        }
    }

    // T3
    @Test func `knows how long its log is and when it was last written`() async throws {
        try await ScratchLedger.with { scratch in
            #expect(try scratch.ledger.questions.size() == 0)
            #expect(try scratch.ledger.questions.lastRecordedAt() == nil)
            _ = try Self.grant(scratch.ledger, "g", "ann")
            let first = scratch.clock.now
            #expect(try scratch.ledger.questions.lastRecordedAt() == first)
            scratch.clock.now = first.advanced(byMilliseconds: 5)
            #expect(try scratch.ledger.questions.lastRecordedAt() == first)
            #expect(try scratch.ledger.questions.size() == 1)
        }
    }
}
