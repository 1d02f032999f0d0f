import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Testing

/// Transactions that customers hand in.
struct `A transaction that a customer hands in` {
    private static func request(
        _ id: String,
        _ environment: StoreEnvironment = .production
    ) -> Request {
        Request(id: id, source: Source.app, environment: environment)
    }

    private static func withCatalog(
        policy: String = "keep",
        _ body: (ScratchLedger) async throws -> Void
    ) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                try Sample.catalog(policy: policy),
                effective: Sample.newYear,
                request("catalog")
            )
            try await body(scratch)
        }
    }

    private static func kinds(_ ledger: Ledger, from first: UInt64 = 1) throws -> [EventKind] {
        try (first..<ledger.questions.size()).map {
            try #require(try ledger.questions.event(at: $0)).event.kind
        }
    }

    private static func owners(
        _ scratch: ScratchLedger,
        _ customers: [CustomerID],
        environment: StoreEnvironment = .production
    ) throws -> [CustomerID] {
        try customers.filter {
            try scratch.show($0, environment: environment)["purchases"]?.array?.count == 1
        }
    }

    private static let taken = Refusal.Code.claimedByAnother

    private static func refusal(
        _ outcome: ClaimOutcome
    ) -> (code: Refusal.Code, owner: CustomerID?)? {
        guard case .refused(let refusal, let owner) = outcome else { return nil }
        return (refusal.code, owner)
    }

    // row 2.3, row CL1, row CL7; E2
    @Test func `stands with its verification, its evidence and the claim in one`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            let outcome = try ledger.appender.claim(
                SampleTransaction.make(),
                for: "ann",
                Self.request("r")
            )
            #expect(outcome == .recorded(sequence: 1, size: 5))
            #expect(
                try Self.kinds(ledger) == [
                    .purchaseCompleted, .verificationPassed, .customerClaimed, .syncCompleted,
                ]
            )
            let events = try (1...4).map { try #require(try ledger.questions.event(at: $0)) }
            #expect(Set(events.map(\.recordedAt)).count == 1)
            #expect(events.map(\.event.source) == ["app_store", "app_store", "app", "app"])
            #expect(
                events.map(\.event.id) == ["transaction/1.1/0", "transaction/1.1/0#2", "r", "r#2"]
            )
            // Stores, rule 7: an explicit claim has the time of asking.
            #expect(events[2].event.time == scratch.clock.now)
            #expect(events[3].event.time == scratch.clock.now)
            #expect(events[3].event.data.integer(.appended) == 1)
            #expect(try ledger.questions.evidence(of: 1) == Array("header.1.1.0".utf8))
            #expect(try ledger.questions.evidence(of: 3) == nil)
            let state = try scratch.show("ann", at: Sample.day(2))
            #expect(state["tier"]?.string == "pro")
            #expect(try ledger.auditor.audit().isOK)
        }
    }

    // row 2.3, E2: an event that no record can hold takes the whole with it
    @Test func `leaves nothing behind where one of its events is refused`() async throws {
        try await Self.withCatalog { scratch in
            var transaction = SampleTransaction.make()
            transaction.facts.evidenceParts = [.bytes(Array(repeating: 7, count: 2 << 20))]
            let outcome = try scratch.ledger.appender.claim(
                transaction,
                for: "ann",
                Self.request("r")
            )
            #expect(Self.refusal(outcome)?.code == .tooLarge)
            #expect(try scratch.ledger.questions.size() == 1)
            transaction.facts.evidenceParts = nil
            let second = try scratch.ledger.appender.claim(
                transaction,
                for: "ann",
                Self.request("r")
            )
            #expect(second == .recorded(sequence: 1, size: 5))
        }
    }

    // row CL2, E1: with the same request, with another, after a restart
    @Test func `is recorded once, however often it is handed in`() async throws {
        try await Self.withCatalog { scratch in
            _ = try scratch.ledger.appender.claim(
                SampleTransaction.make(),
                for: "ann",
                Self.request("r")
            )
            func again(_ id: String) throws -> ClaimOutcome {
                try scratch.ledger.appender.claim(
                    SampleTransaction.make(),
                    for: "ann",
                    Self.request(id)
                )
            }
            let size = try scratch.ledger.questions.size()
            #expect(try again("r") == .known(sequence: 1))
            #expect(try scratch.ledger.questions.size() == size)
            // Row 6.3, the control: another request has the store's word told once.
            #expect(try again("r2") == .known(sequence: 1))
            #expect(try Self.kinds(scratch.ledger, from: size) == [.syncCompleted])
            try scratch.reopen()
            #expect(try again("r") == .known(sequence: 1))
            try scratch.reopenWithoutViews()
            #expect(try again("r3") == .known(sequence: 1))
            #expect(try Self.kinds(scratch.ledger).count { $0 == .customerClaimed } == 1)
            #expect(try Self.kinds(scratch.ledger).count { $0 == .purchaseCompleted } == 1)
        }
    }

    // E1: other content under a known id
    @Test func `is refused under another request's id`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.claim(
                SampleTransaction.make("1"),
                for: "ann",
                Self.request("r")
            )
            let other = try ledger.appender.claim(
                SampleTransaction.make("2"),
                for: "ann",
                Self.request("r")
            )
            #expect(Self.refusal(other)?.code == .conflict)
            let somebody = try ledger.appender.claim(
                SampleTransaction.make("1"),
                for: "bob",
                Self.request("r")
            )
            #expect(Self.refusal(somebody)?.code == .conflict)
            #expect(try ledger.questions.size() == 5)
        }
    }

    // row 6.3, P2: an end that was told since is taken back by a later statement, not by the same one
    @Test(arguments: [(Sample.day(10), true), (Sample.day(31), false)])
    func `adds what takes an end back, and no more`(_ end: Instant, _ isAdded: Bool) async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.claim(SampleTransaction.make(), for: "ann", Self.request("a"))
            let expired = try Sample.event(
                "e",
                "purchase.expired",
                "purchase/app_store/1",
                data: #"{"transactionId":"1.1"}"#,
                time: end
            )
            _ = try ledger.appender.record(Submission(event: expired))
            let size = try ledger.questions.size()
            let again = SampleTransaction.make(signed: 40 * 86_400)
            _ = try ledger.appender.claim(again, for: "ann", Self.request("b"))
            let kinds = try Self.kinds(ledger, from: size)
            #expect(kinds.contains(.purchaseCompleted) == isAdded, "\(kinds)")
            let status = try scratch.show("ann", at: Sample.day(20))["purchases"]?.array?.first
            #expect(status?["status"]?.string == "active")
        }
    }

    // row CL2, C1: nothing of the second customer's request is recorded
    @Test func `is refused whole under keep if another customer owns its purchase`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.claim(SampleTransaction.make(), for: "ann", Self.request("a"))
            let size = try ledger.questions.size()
            for transaction in [1, 2] {
                let outcome = try ledger.appender.claim(
                    SampleTransaction.make(transaction: transaction),
                    for: "bob",
                    Self.request("b\(transaction)")
                )
                #expect(Self.refusal(outcome)?.code == Self.taken)
                #expect(Self.refusal(outcome)?.owner == "ann")
            }
            // Stores, rule 7: that it was is kept, once an hour, under both.
            #expect(try Self.kinds(ledger, from: size) == [.signalNoted, .signalNoted])
            let noted = try (size..<size + 2).map {
                try #require(try ledger.questions.event(at: $0)).event
            }
            #expect(noted.map { $0.data.text(.name) } == ["claim_refused", "claim_refused"])
            #expect(
                noted.map(\.subject.description) == ["customer/bob", "purchase/app_store/1"]
            )
            #expect(noted.allSatisfy { !$0.id.contains("bob") && !$0.id.contains("ann") })
            #expect(try Self.owners(scratch, ["ann", "bob"]) == ["ann"])
        }
    }

    // row CL2, C1
    @Test func `moves its purchase under transfer`() async throws {
        try await Self.withCatalog(policy: "transfer") { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.claim(SampleTransaction.make(), for: "ann", Self.request("a"))
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 1000)
            let outcome = try ledger.appender.claim(
                SampleTransaction.make(),
                for: "bob",
                Self.request("b")
            )
            #expect(outcome == .recorded(sequence: 5, size: 7))
            #expect(try Self.kinds(ledger, from: 5) == [.customerClaimed, .syncCompleted])
            #expect(try Self.owners(scratch, ["ann", "bob"]) == ["bob"])
            // E1: Ann's own request has its first outcome and takes nothing back.
            let repeated = try ledger.appender.claim(
                SampleTransaction.make(),
                for: "ann",
                Self.request("a")
            )
            #expect(repeated == .known(sequence: 3))
            #expect(try Self.owners(scratch, ["ann", "bob"]) == ["bob"])
        }
    }

    // Stores, rule 7: the token comes before the customer's word
    @Test(
        arguments: [
            ("keep", "ann", ["ann"], 0), ("keep", "bob", [], 0), ("transfer", "ann", ["ann"], 0),
            ("transfer", "bob", ["ann"], 1), ("keep", nil, ["ann"], 1),
        ] as [(String, CustomerID?, [CustomerID], Int)]
    )
    func `is decided after the token that it carries`(
        policy: String,
        token: CustomerID?,
        owners: [CustomerID],
        claims: Int
    ) async throws {
        try await Self.withCatalog(policy: policy) { scratch in
            let outcome = try scratch.ledger.appender.claim(
                SampleTransaction.make(token: token),
                for: "ann",
                Self.request("r")
            )
            #expect((Self.refusal(outcome)?.owner == "bob") == owners.isEmpty)
            #expect(try Self.owners(scratch, ["ann", "bob"]) == owners)
            let kinds = try Self.kinds(scratch.ledger)
            #expect(kinds.count { $0 == .customerClaimed } == claims)
            #expect(kinds.contains(.purchaseCompleted) != owners.isEmpty)
        }
    }

    // Stores, rule 7: a token of somebody else takes nothing from the owner under keep
    @Test func `of the owner stands beside another's token`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.claim(SampleTransaction.make(), for: "ann", Self.request("1"))
            let renewal = SampleTransaction.make(transaction: 2, token: "bob")
            #expect(
                try ledger.appender.claim(renewal, for: "ann", Self.request("2"))
                    == .recorded(sequence: 5, size: 7)
            )
            #expect(
                try Self.kinds(ledger, from: 5) == [.purchaseRenewed, .verificationPassed]
            )
            #expect(try Self.owners(scratch, ["ann", "bob"]) == ["ann"])
        }
    }

    // row CL2: the store told of it first, nobody owned it yet
    @Test func `is only claimed if the store told of it before`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.record(SampleTransaction.make().facts)
            let outcome = try ledger.appender.claim(
                SampleTransaction.make(),
                for: "ann",
                Self.request("r")
            )
            #expect(outcome == .recorded(sequence: 3, size: 5))
            #expect(try Self.kinds(ledger, from: 3) == [.customerClaimed, .syncCompleted])
        }
    }

    // Model, "Events": worlds never mix
    @Test func `belongs to its own environment, whatever the request says`() async throws {
        try await Self.withCatalog { scratch in
            let transaction = SampleTransaction.make(environment: .sandbox)
            let outcome = try scratch.ledger.appender.claim(
                transaction,
                for: "ann",
                Self.request("r", .production)
            )
            #expect(outcome == .recorded(sequence: 1, size: 5))
            #expect(try Self.owners(scratch, ["ann"]) == [])
            #expect(try Self.owners(scratch, ["ann"], environment: .sandbox) == ["ann"])
        }
    }

    // row CL2, E4: exactly one wins, and all of it
    @Test func `is won by one of 64 customers who claim it at once under keep`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            let outcomes = try Concurrently.run(64) { index in
                try ledger.appender.claim(
                    SampleTransaction.make(signed: index),
                    for: "u\(index)",
                    Self.request("r\(index)")
                )
            }
            let customers = (0..<64).map { "u\($0)" as CustomerID }
            let owners = try Self.owners(scratch, customers)
            #expect(owners.count == 1)
            #expect(outcomes.count { $0 == .recorded(sequence: 1, size: 5) } == 1)
            let refused = outcomes.compactMap(Self.refusal)
            #expect(refused.count == 63)
            #expect(refused.allSatisfy { $0.code == Self.taken && $0.owner == owners.first })
            // Of the 63 who were refused each is noted, under both.
            #expect(try ledger.questions.size() == 5 + 2 * 63)
        }
    }

    // row CL2, E1
    @Test func `is recorded once if one request comes 64 times at once`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            let outcomes = try Concurrently.run(64) { _ in
                try ledger.appender.claim(SampleTransaction.make(), for: "ann", Self.request("r"))
            }
            #expect(outcomes.count { $0 == .recorded(sequence: 1, size: 5) } == 1)
            #expect(outcomes.count { $0 == .known(sequence: 1) } == 63)
            #expect(try Self.kinds(ledger).count { $0 == .customerClaimed } == 1)
        }
    }

    // E1: readers would pass over what stands under the id of another event
    @Test func `is refused where the id of its second event is taken`() async throws {
        try await Self.withCatalog { scratch in
            let appender = try scratch.ledger.appender
            _ = try appender.link("phone", to: "ann", Self.request("r#2"))
            let size = try scratch.ledger.questions.size()
            func claim(_ id: String) throws -> ClaimOutcome {
                try appender.claim(SampleTransaction.make(), for: "ann", Self.request(id))
            }
            #expect(try Self.refusal(claim("r"))?.code == .conflict)
            #expect(try scratch.ledger.questions.size() == size)
            // The control: under another id the same is recorded.
            #expect(try claim("s") == .recorded(sequence: size, size: size + 4))
        }
    }

    // E1: one id stands for one request, also among those of one group
    @Test func `under one id is one, whatever comes at once`() async throws {
        try await Self.withCatalog { scratch in
            let ledger = scratch.ledger
            let outcomes = try Concurrently.run(32) { index in
                try ledger.appender.claim(
                    SampleTransaction.make("\(index)"),
                    for: "ann",
                    Self.request("r")
                )
            }
            let conflicts = outcomes.compactMap(Self.refusal).map(\.code)
            #expect(conflicts == Array(repeating: .conflict, count: 31))
            #expect(outcomes.contains(.recorded(sequence: 1, size: 5)))
            #expect(try ledger.questions.size() == 5)
        }
    }
}
