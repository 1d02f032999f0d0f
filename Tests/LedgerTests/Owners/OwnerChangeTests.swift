import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import ModelSupport
import Stores
import Testing

/// What support asks for about who owns a purchase (Stores, rule 7; C1).
struct `A transfer or release by support` {
    private static let purchase = PurchaseName(store: "app_store", originalID: "1")
    private static let reason = "ticket 12"

    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.support, environment: .production)
    }

    /// A ledger in which ann owns a purchase, by a claim at the clock's time.
    private static func withOwner(
        policy: String = "keep",
        _ body: (ScratchLedger) async throws -> Void
    ) async throws {
        try await ScratchLedger.with { scratch in
            let appender = try scratch.ledger.appender
            _ = try appender.publish(
                try Sample.catalog(policy: policy),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            _ = try appender.record(
                Sample.submissions([
                    Sample.purchaseLine("b", "app_store/1", until: "2027-01-01T00:00:00.000Z"),
                    Sample.line(
                        "v",
                        "verification.passed",
                        "purchase/app_store/1",
                        data: #"{"method":"manual"}"#
                    ),
                ])
            )
            _ = try appender.claim(purchase, for: "ann", request("claim"))
            try await body(scratch)
        }
    }

    private static func owners(
        _ scratch: ScratchLedger,
        at instant: Instant? = nil
    ) throws -> [CustomerID] {
        try ["ann", "bob", "cy"].filter {
            let state = try scratch.show($0, at: instant ?? scratch.clock.now)
            return state["purchases"]?.array?.count == 1
        }
    }

    private static func events(_ ledger: Ledger, from first: UInt64) throws -> [Event] {
        try (first..<ledger.questions.size()).map {
            try #require(try ledger.questions.event(at: $0)).event
        }
    }

    private static func refusal(_ outcome: OwnerOutcome) -> Refusal? {
        guard case .refused(let refusal) = outcome.receipt else { return nil }
        return refusal
    }

    // C1, E2: at the same instant as the claim before it, too
    @Test(arguments: ["keep", "transfer"])
    func `moves one purchase whatever the policy`(_ policy: String) async throws {
        try await Self.withOwner(policy: policy) { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.claim(
                PurchaseName(store: "app_store", originalID: "2"),
                for: "ann",
                Self.request("other")
            )
            let size = try ledger.questions.size()
            let outcome = try ledger.appender.transfer(
                Self.purchase,
                to: "bob",
                reason: Self.reason,
                Self.request("t")
            )
            #expect(outcome.receipt == .appended(first: size, count: 2))
            #expect(outcome.formerOwner == "ann")
            let events = try Self.events(ledger, from: size)
            #expect(events.map(\.kind) == [.signalNoted, .customerClaimed])
            #expect(
                events.map(\.subject.description) == ["purchase/app_store/1", "customer/bob"]
            )
            #expect(events[0].data.text(.name) == "purchase_transferred")
            #expect(events[0].data.text(.detail) == Self.reason)
            #expect(events.allSatisfy { $0.source == Source.support })
            #expect(events.allSatisfy { $0.time == scratch.clock.now })
            // Ann keeps the other one.
            #expect(try Self.owners(scratch) == ["ann", "bob"])
            let kept = try scratch.show("ann", at: scratch.clock.now)["purchases"]?.array
            #expect(kept?.first?["purchase"] == "app_store/2")
            #expect(try scratch.show("bob", at: scratch.clock.now)["tier"] == "pro")
            try scratch.reopenWithoutViews()
            #expect(try Self.owners(scratch) == ["ann", "bob"])
            #expect(try scratch.ledger.auditor.audit().isOK)
        }
    }

    // C1: what was before stays hers, and no renewal by her old token takes it back (Stores, rule 7)
    @Test func `counts from now on`() async throws {
        try await Self.withOwner { scratch in
            let day = Instant.millisecondsPerDay
            let claimed = scratch.clock.now
            scratch.clock.now = claimed.advanced(byMilliseconds: day)
            _ = try scratch.ledger.appender.transfer(
                Self.purchase,
                to: "bob",
                reason: Self.reason,
                Self.request("t")
            )
            #expect(try Self.owners(scratch, at: claimed) == ["ann"])
            #expect(try Self.owners(scratch) == ["bob"])
            let renewal = SampleTransaction.make(transaction: 12, token: "ann")
            _ = try scratch.ledger.appender.record(renewal.facts)
            let later = scratch.clock.now.advanced(byMilliseconds: 300 * day)
            #expect(try Self.owners(scratch, at: later) == ["bob"])
        }
    }

    // C1
    @Test func `releases a purchase, which whoever claims it next owns`() async throws {
        try await Self.withOwner { scratch in
            let ledger = scratch.ledger
            let size = try ledger.questions.size()
            let outcome = try ledger.appender.release(
                Self.purchase,
                reason: Self.reason,
                Self.request("r")
            )
            #expect(outcome.receipt == .appended(first: size, count: 2))
            #expect(outcome.formerOwner == "ann")
            let events = try Self.events(ledger, from: size)
            #expect(events.map(\.kind) == [.signalNoted, .customerReleased])
            #expect(events[0].data.text(.name) == "purchase_released")
            #expect(events[1].subject.description == "customer/ann")
            #expect(try Self.owners(scratch) == [])
            let claim = try ledger.appender.claim(Self.purchase, for: "bob", Self.request("c"))
            #expect(claim == .appended(first: size + 2, count: 1))
            #expect(try Self.owners(scratch) == ["bob"])
        }
    }

    @Test func `gives a purchase that nobody owns`() async throws {
        try await Self.withOwner { scratch in
            let appender = try scratch.ledger.appender
            _ = try appender.release(Self.purchase, reason: "r", Self.request("r"))
            let outcome = try appender.transfer(
                Self.purchase,
                to: "cy",
                reason: "r",
                Self.request("t")
            )
            #expect(outcome.formerOwner == nil)
            #expect(try Self.owners(scratch) == ["cy"])
        }
    }

    // E1: the note would stand, and nobody would read the claim or release behind it
    @Test func `is a conflict where the id of its second event is taken`() async throws {
        try await Self.withOwner { scratch in
            let ledger = scratch.ledger
            let taken = try ledger.questions.size()
            _ = try ledger.appender.link("phone", to: "ann", Self.request("k#2"))
            let outcomes = [
                try ledger.appender.transfer(
                    Self.purchase,
                    to: "bob",
                    reason: Self.reason,
                    Self.request("k")
                ),
                try ledger.appender.release(
                    Self.purchase,
                    reason: Self.reason,
                    Self.request("k")
                ),
            ]
            for outcome in outcomes {
                #expect(Self.refusal(outcome)?.code == .conflict)
                #expect(Self.refusal(outcome)?.path == "id")
                #expect(outcome.formerOwner == nil)
            }
            #expect(try ledger.questions.size() == taken + 1)
            #expect(try Self.owners(scratch) == ["ann"])
        }
    }

    // E1, C2: to whom it belongs already, under any name, and from nobody
    @Test func `that changes nothing records nothing`() async throws {
        try await Self.withOwner { scratch in
            let appender = try scratch.ledger.appender
            _ = try appender.link("phone", to: "ann", Self.request("l"))
            let size = try scratch.ledger.questions.size()
            for customer in ["ann", "phone"] as [CustomerID] {
                let known = try appender.transfer(
                    Self.purchase,
                    to: customer,
                    reason: "r",
                    Self.request("t-\(customer)")
                )
                #expect(known.receipt == .known && known.formerOwner == nil)
            }
            #expect(try scratch.ledger.questions.size() == size)
            _ = try appender.release(Self.purchase, reason: "r", Self.request("r"))
            let again = try appender.release(Self.purchase, reason: "r", Self.request("r2"))
            #expect(again.receipt == .known && again.formerOwner == nil)
            #expect(try scratch.ledger.questions.size() == size + 2)
        }
    }

    // E1: the first outcome, whoever owns it since; other content is a conflict
    @Test func `repeated has its first outcome`() async throws {
        try await Self.withOwner { scratch in
            let appender = try scratch.ledger.appender
            let size = try scratch.ledger.questions.size()
            func transfer(_ customer: CustomerID, _ reason: String, _ id: String) throws -> Receipt
            {
                try appender.transfer(
                    Self.purchase,
                    to: customer,
                    reason: reason,
                    Self.request(id)
                ).receipt
            }
            func release(_ reason: String, _ id: String) throws -> Receipt {
                try appender.release(Self.purchase, reason: reason, Self.request(id)).receipt
            }
            _ = try transfer("bob", "a", "t")
            _ = try release("a", "r")
            #expect(try transfer("bob", "a", "t") == .duplicate(of: size))
            #expect(try release("a", "r") == .duplicate(of: size + 2))
            let others = try [
                transfer("cy", "a", "t"), transfer("bob", "b", "t"), release("b", "r"),
                transfer("bob", "a", "r"), release("a", "t"), release("a", "claim"),
            ]
            let fields = others.map { receipt -> String? in
                guard case .refused(let refusal) = receipt, refusal.code == .conflict else {
                    return nil
                }
                return refusal.path
            }
            #expect(
                fields == [
                    "subject", "data.detail", "data.detail", "data.name", "data.name",
                    "type, subject, data.purchase, data.name, data.detail",
                ]
            )
            #expect(try scratch.ledger.questions.size() == size + 4)
        }
    }

    // E1: somebody else recorded the reason alone under this id, at the log's end
    @Test func `is no repeat of a note`() async throws {
        try await Self.withOwner { scratch in
            let note = Sample.line(
                "t",
                "signal.noted",
                "purchase/app_store/1",
                data: #"{"name":"purchase_transferred","detail":"a"}"#
            )
            _ = try scratch.ledger.appender.record(Sample.submissions([note]))
            let outcome = try scratch.ledger.appender.transfer(
                Self.purchase,
                to: "bob",
                reason: "a",
                Self.request("t")
            )
            #expect(Self.refusal(outcome)?.code == .conflict)
            #expect(Self.refusal(outcome)?.path == "subject")
        }
    }

    @Test func `of a purchase that no event names is refused`() async throws {
        try await Self.withOwner { scratch in
            let appender = try scratch.ledger.appender
            let size = try scratch.ledger.questions.size()
            let other = PurchaseName(store: "app_store", originalID: "9")
            let outcomes = try [
                appender.transfer(other, to: "bob", reason: "r", Self.request("t")),
                appender.release(other, reason: "r", Self.request("r")),
                // The same name in another environment is another one.
                appender.release(
                    Self.purchase,
                    reason: "r",
                    Request(id: "r", source: Source.support, environment: .sandbox)
                ),
            ]
            let codes = outcomes.map { Self.refusal($0)?.code }
            #expect(codes == [.unknownPurchase, .unknownPurchase, .unknownPurchase])
            #expect(try scratch.ledger.questions.size() == size)
        }
    }

    // T3: a clock that was put back puts what is asked now behind what was asked before.
    @Test func `counts though the clock was put back`() async throws {
        try await Self.withOwner { scratch in
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: -60_000)
            let later = scratch.clock.now.advanced(byMilliseconds: 120_000)
            let appender = try scratch.ledger.appender
            _ = try appender.transfer(Self.purchase, to: "bob", reason: "r", Self.request("t"))
            #expect(try Self.owners(scratch, at: later) == ["bob"])
            _ = try appender.release(Self.purchase, reason: "r", Self.request("r"))
            #expect(try Self.owners(scratch, at: later) == [])
        }
    }

    // C6: the owner's name is gone, and the purchase's with it
    @Test func `knows nothing of what was erased`() async throws {
        try await Self.withOwner { scratch in
            let ledger = scratch.ledger
            _ = try ledger.eraser.erase(["ann"], Self.request("e"), reading: StoredEvidenceNames())
            let outcome = try ledger.appender.release(
                Self.purchase,
                reason: "r",
                Self.request("r")
            )
            #expect(Self.refusal(outcome)?.code == .unknownPurchase)
        }
    }

    // E4: many at once leave one owner, who is the last one that was recorded
    @Test func `is decided against the log as it stands`() async throws {
        try await Self.withOwner { scratch in
            let ledger = scratch.ledger
            let former = try await withThrowingTaskGroup(of: CustomerID?.self) { group in
                for index in 0..<24 {
                    group.addTask {
                        let customer: CustomerID = index.isMultiple(of: 2) ? "bob" : "cy"
                        return try ledger.appender.transfer(
                            Self.purchase,
                            to: customer,
                            reason: "r",
                            Self.request("t\(index)")
                        ).formerOwner
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // Each was taken from the one before it.
            let taken = former.compactMap(\.self)
            let claims = try Self.events(ledger, from: 3).filter { $0.kind == .customerClaimed }
            #expect(claims.count == taken.count + 1)
            #expect(
                zip(claims, claims.dropFirst()).allSatisfy { $0.subject != $1.subject }
            )
            let owner = try #require(claims.last?.subject)
            #expect(try Self.owners(scratch).map { Subject.customer($0) } == [owner])
        }
    }
}
