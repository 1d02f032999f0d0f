import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import ModelSupport
import Testing

/// Folding every customer at once.
struct `A fold of the whole population` {
    // law 8, C1, C2, P13: also prefixes, which other parts of the log must not reach into.
    @Test func `hands out each customer once, with the timeline that show is made from`()
        async throws
    {
        var compared = 0
        for seed: UInt64 in 1...40 {
            // C6: an import refuses `customer.erased`.
            let log = RandomHistory(seed: seed).log.filter { $0.kind != .customerErased }
            let clock = TestClock(Instant(milliseconds: 1_893_456_000_000))
            try await ScratchLedger.with(clock: clock) { scratch in
                _ = try scratch.ledger.appender.record(log.map { Submission(event: $0.event) })
                for size in [log.count, log.count / 2] {
                    for environment in StoreEnvironment.allCases {
                        compared += try compare(
                            scratch.ledger,
                            Array(log.prefix(size)),
                            environment,
                            "seed \(seed), \(size) events"
                        )
                    }
                }
            }
        }
        #expect(compared > 100, "there were customers to compare")
    }

    // C1: a purchase that goes through the hands of hundreds joins all of them.
    @Test func `follows a long chain of owners`() async throws {
        let length = 300
        try await ScratchLedger.with { scratch in
            var lines = [
                Sample.line(
                    "buy",
                    "purchase.completed",
                    "purchase/app_store/1",
                    data: #"{"transactionId":"t","productId":"p","productKind":"non_consumable"}"#,
                    time: Sample.day(0)
                ),
                Sample.line(
                    "claim",
                    "customer.claimed",
                    "customer/c0",
                    data: #"{"purchase":"app_store/1"}"#,
                    time: Sample.day(0)
                ),
            ]
            for owner in 1..<length {
                lines.append(
                    Sample.line(
                        "move-\(owner)",
                        "customer.transferred",
                        "customer/c\(owner)",
                        data: #"{"from":["c\#(owner - 1)"]}"#,
                        time: Sample.day(Int64(owner))
                    )
                )
            }
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            let timelines = try population(scratch.ledger, length + 1, .production)
            #expect(timelines.count == length)
            for owner in [0, 1, length / 2, length - 1] {
                let expected = try scratch.ledger.questions.timeline(
                    of: "c\(owner)",
                    environment: .production,
                    size: UInt64(length + 1)
                )
                let ownership = timelines[expected.customer]?.purchases.map(\.ownership)
                #expect(ownership == expected.purchases.map(\.ownership), "c\(owner)")
                #expect(ownership?.count == 1, "c\(owner)")
            }
        }
    }

    @Test func `refuses a prefix that the log does not have`() async throws {
        try await ScratchLedger.with { scratch in
            #expect(throws: LedgerFault.self) {
                _ = try population(scratch.ledger, 1, .production)
            }
            let nobody = try population(scratch.ledger, 0, .production)
            #expect(nobody.isEmpty)
        }
    }

    @Test func `ends with what its body throws`() async throws {
        struct Stop: Error {}
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.record(
                Sample.submissions([
                    Sample.line(
                        "claim",
                        "customer.claimed",
                        "customer/ann",
                        data: #"{"purchase":"app_store/1"}"#
                    )
                ])
            )
            #expect(throws: Stop.self) {
                _ = try scratch.ledger.questions.foldCustomers(
                    upTo: 1,
                    environment: .production,
                    into: 0
                ) { _, _ in throw Stop() }
            }
        }
    }

    /// Every timeline by its customer; a customer who comes twice is an issue.
    private func population(
        _ ledger: Ledger,
        _ size: Int,
        _ environment: StoreEnvironment
    ) throws -> [UInt64: CustomerTimeline] {
        let parts = try ledger.questions.foldCustomers(
            upTo: UInt64(size),
            environment: environment,
            into: [CustomerTimeline]()
        ) { $0.append($1) }
        var timelines: [UInt64: CustomerTimeline] = [:]
        for timeline in parts.joined() {
            #expect(timelines.updateValue(timeline, forKey: timeline.customer) == nil)
        }
        return timelines
    }

    /// Compares every customer whom events name; returns how many there are.
    private func compare(
        _ ledger: Ledger,
        _ log: [RecordedEvent],
        _ environment: StoreEnvironment,
        _ what: String
    ) throws -> Int {
        let timelines = try population(ledger, log.count, environment)
        let instants = Set(log.map(\.event.time)).sorted()
        var met: Set<UInt64> = []
        for customer in Self.customers(log.map(\.event).filter { $0.environment == environment }) {
            let expected = try ledger.questions.timeline(
                of: customer,
                environment: environment,
                size: UInt64(log.count)
            )
            met.insert(expected.customer)
            guard let timeline = timelines[expected.customer] else {
                Issue.record("\(what): \(customer) is missing")
                continue
            }
            #expect(timeline.tierStretches == expected.tierStretches, "\(what): \(customer)")
            for at in instants {
                let state = try StateContent(timeline.state(at: at), names: ledger.questions.names)
                let shown = try StateContent(expected.state(at: at), names: ledger.questions.names)
                #expect(state == shown, "\(what): \(customer)")
            }
        }
        #expect(Set(timelines.keys) == met, "\(what)")
        return met.count
    }

    /// Whoever is a customer's subject, an alias, an origin or an account.
    private static func customers(_ events: [Event]) -> Set<CustomerID> {
        var customers: Set<CustomerID> = []
        for event in events {
            if let account = event.data.text(.account).flatMap({ CustomerID($0) }) {
                customers.insert(account)
            }
            guard case .customer(let id) = event.subject else { continue }
            customers.insert(id)
            customers.formUnion((event.data.texts(.from) ?? []).compactMap { CustomerID($0) })
            if let alias = event.data.text(.alias).flatMap({ CustomerID($0) }) {
                customers.insert(alias)
            }
        }
        return customers
    }
}
