import Encodings
import EntitlementLedger
import Entitlements
import Foundation
import ModelSupport
import Synchronization
import Testing

@testable import LedgerServer

/// The answers that stand until something changes them are never stale (law 4, row Z15).
struct `A standing answer` {
    private static let environment = ProcessInfo.processInfo.environment
    private static let historyCount =
        environment["ENTITLE_STANDING_HISTORIES"].flatMap(UInt64.init) ?? 6
    private static let firstSeed =
        environment["ENTITLE_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)

    // rows 4.2, Z15
    @Test func `is what the fold says, after every event and at every expiry`() async throws {
        var counts = StandingPlay.Counts()
        for offset in 0..<Self.historyCount {
            var play = StandingPlay(seed: Self.firstSeed &+ offset)
            try await play.run()
            counts.add(play.counts)
        }
        print("standing answers: \(counts)")
        #expect(counts.compared > 1_000)
        // Control: whoever kept the first answer of each would be found out.
        #expect(counts.changed > 100)
        #expect(counts.expired > 10)
    }
}

/// One random history, told event by event to a server that is asked all the time.
private struct StandingPlay {
    let seed: UInt64
    private(set) var counts = Counts()
    private let history: RandomHistory

    struct Counts: Sendable {
        var compared = 0
        /// Answers that differ from the last, and those of them that no event has changed.
        var changed = 0
        var expired = 0

        mutating func add(_ other: Counts) {
            compared += other.compared
            changed += other.changed
            expired += other.expired
        }
    }

    init(seed: UInt64) {
        self.seed = seed
        history = RandomHistory(seed: seed, minimumSize: 12)
    }

    mutating func run() async throws {
        let (seed, events) = (seed, history.log.map(\.event))
        let log = events.filter { $0.kind != .customerErased }
        guard let first = log.map(\.time).min() else { return }
        let result = CountBox()
        try await TestServer.with { server in
            server.clock.now = first
            var walk = Walk(server: server, random: SplitMix64(seed: seed), seed: seed)
            for event in log {
                let receipt = try server.ledger.appender.record(Submission(event: event))
                guard case .appended = receipt else {
                    Issue.record("seed \(seed): \(receipt)")
                    return
                }
                try await walk.look(afterEvent: true)
                for _ in 0..<2 where try await walk.move() {
                    try await walk.look(afterEvent: false)
                }
            }
            result.counts = walk.counts
        }
        counts = result.counts
    }
}

/// Carries figures out of a body that may run elsewhere.
private final class CountBox: Sendable {
    private let state = Mutex(StandingPlay.Counts())

    var counts: StandingPlay.Counts {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

/// The clock and the questions of one history.
private struct Walk {
    let server: TestServer
    var random: SplitMix64
    let seed: UInt64
    private(set) var counts = StandingPlay.Counts()
    private var last: [String: JSONValue] = [:]
    private var next: [Instant] = []

    private static let customers = ["ann", "bob", "cy", "%24anon%3A1", "nobody"]

    init(server: TestServer, random: SplitMix64, seed: UInt64) {
        (self.server, self.random, self.seed) = (server, random, seed)
    }

    /// To an instant at which an answer changes by itself, or just before it; false: there is none.
    mutating func move() async throws -> Bool {
        guard let instant = next.filter({ $0 > server.clock.now }).min() else { return false }
        let before = instant.advanced(byMilliseconds: -1)
        server.clock.now = random.chance(40) && before > server.clock.now ? before : instant
        return true
    }

    /// Compares each feature's answer with the state, which is folded anew each time.
    mutating func look(afterEvent: Bool) async throws {
        next = []
        for customer in Self.customers {
            let query = random.chance(20) ? "?environment=sandbox" : ""
            let state = try await server.state(customer, query)
            if let instant = state["validUntil"]?.string.flatMap({ Instant(rfc3339: $0) }) {
                next.append(instant)
            }
            for member in state["features"]?.members ?? [] {
                let path = "/v1/customers/\(customer)/features/\(member.name)"
                let answer = try await server.get(path + query)
                #expect(
                    answer.featureState == member.value,
                    "seed \(seed), \(path), \(server.clock.now)"
                )
                counts.compared += 1
                let known = last.updateValue(member.value, forKey: path + query)
                guard let known, known != member.value else { continue }
                counts.changed += 1
                if !afterEvent { counts.expired += 1 }
            }
        }
    }
}
