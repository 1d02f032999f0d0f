import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import Stores
import Testing

/// Ids are bytes (row 9.4): whatever decides by a customer tells two apart whose ids only differ in
/// how an accent is written.
struct `Two customers of one text to Swift` {
    private static let composed: CustomerID = "jos\u{E9}"
    private static let decomposed: CustomerID = "jose\u{301}"

    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.support, environment: .production)
    }

    /// A ledger that has given a feature to the first of them.
    private static func with(_ body: (ScratchLedger) async throws -> Void) async throws {
        try await ScratchLedger.with(clock: TestClock(Sample.newYear)) { scratch in
            let appender = try scratch.ledger.appender
            _ = try appender.publish(Sample.catalog(), effective: nil, request("catalog"))
            let given = try appender.grant(
                "g",
                to: composed,
                features: ["export"],
                tier: nil,
                expiresAt: nil,
                reason: nil,
                request("grant")
            )
            #expect(given == .appended(first: 1, count: 1))
            try await body(scratch)
        }
    }

    private static func can(_ customer: CustomerID, _ scratch: ScratchLedger) throws -> Bool {
        try scratch.ledger.questions.can(
            customer,
            "export",
            environment: .production,
            at: scratch.clock.now
        )
    }

    // The control: to Swift their texts are one.
    @Test func `are two ids, subjects and viewers`() {
        #expect(Self.composed.text == Self.decomposed.text && Self.composed != Self.decomposed)
        #expect(Set([Self.composed, Self.decomposed]).count == 2)
        #expect(Subject.customer(Self.composed) != .customer(Self.decomposed))
        #expect(
            CatalogViewer(customer: Self.composed, environment: .production)
                != CatalogViewer(customer: Self.decomposed, environment: .production)
        )
    }

    @Test func `are answered apart, folded and from memory`() async throws {
        try await Self.with { scratch in
            for _ in 0..<2 {
                let answers = try [Self.composed, Self.decomposed].map { try Self.can($0, scratch) }
                #expect(answers == [true, false])
            }
        }
    }

    // Row Z11: the token names the one, whoever is said to be meant.
    @Test func `have each their own decision tokens`() async throws {
        try await Self.with { scratch in
            let shown = try scratch.show(Self.composed)
            let text = try #require(shown["token"]?.string)
            let token = try #require(DecisionToken(text))
            let questions = scratch.ledger.questions
            let same = try questions.answer(to: token, customer: Self.composed)
            #expect(same.answer != nil)
            let other = try questions.answer(to: token, customer: Self.decomposed)
            #expect(other.refusal?.code == .otherCustomer)
        }
    }

    // C2: the link of an id to itself says nothing, that of two says something.
    @Test func `can be linked by a signal`() async throws {
        try await Self.with { scratch in
            let note = Event(
                id: "s",
                source: Source.revenueCat,
                subject: .store(Source.revenueCat),
                time: Sample.newYear,
                data: EventData(.signalNoted, [.name: .text("test")])
            )
            func signal(_ id: String, _ alias: CustomerID) -> Submission {
                Submission(
                    id: id,
                    source: Source.revenueCat,
                    environment: .production,
                    nature: .signal,
                    drafts: [note.draft],
                    links: [
                        LinkProposal(
                            customer: Self.composed,
                            alias: alias,
                            time: Sample.newYear,
                            observedAt: Sample.newYear
                        )
                    ]
                )
            }
            let appender = try scratch.ledger.appender
            let same = try appender.record(signal("same", Self.composed))
            #expect(same == .appended(first: 2, count: 1))
            let before = try Self.can(Self.decomposed, scratch)
            let linked = try appender.record(signal("linked", Self.decomposed))
            #expect(linked == .appended(first: 3, count: 2))
            let after = try Self.can(Self.decomposed, scratch)
            #expect(!before && after)
        }
    }

    @Test func `are noted, listed and erased apart`() async throws {
        try await Self.with { scratch in
            let appender = try scratch.ledger.appender
            _ = try appender.startTrial("week", for: Self.decomposed, Self.request("trial"))
            try appender.logAccess(
                [Self.composed, Self.decomposed].enumerated().map { index, customer in
                    CustomerAccess(
                        id: "access-\(index)",
                        customer: customer,
                        environment: .production,
                        actor: "key",
                        action: "showCustomer",
                        reason: nil,
                        time: scratch.clock.now
                    )
                }
            )
            for customer in [Self.composed, Self.decomposed] {
                var filter = EventFilter(sequences: 0 ..< .max)
                filter.customer = customer
                filter.kind = .accessLogged
                var count = 0
                try scratch.ledger.questions.events(filter) { _, _ in
                    count += 1
                    return true
                }
                #expect(count == 1)
            }
            let outcome = try scratch.ledger.eraser.erase(
                [Self.composed],
                Self.request("erase"),
                reading: StoredEvidenceNames()
            )
            guard case .erased(let receipt) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(receipt.streams.count == 1)
            let (gone, other) = (
                try scratch.show(Self.composed), try scratch.show(Self.decomposed)
            )
            #expect(gone["grants"] == .array([]))
            #expect(other["trials"]?.array?.count == 1)
        }
    }
}
