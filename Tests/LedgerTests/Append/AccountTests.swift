import Encodings
import Entitlements
import LedgerAPI
import Stores
import Testing

@testable import EntitlementLedger

/// Customers whom a store names for its transactions (Stores, rule 7; C1).
struct `An account that a store names` {
    private static func with(
        policy: String,
        _ body: (ScratchLedger) async throws -> Void
    ) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                try Sample.catalog(policy: policy),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            try await body(scratch)
        }
    }

    /// Who owns the purchase on some days.
    private static func owners(_ scratch: ScratchLedger, days: [Int64]) throws -> [[CustomerID]] {
        try days.map { day in
            try ["ann", "bob", "cy"].filter {
                try scratch.show($0, at: Sample.day(day))["purchases"]?.array?.count == 1
            }
        }
    }

    private static func signal(_ transaction: Int, _ token: CustomerID?) -> Submission {
        SampleTransaction.make(transaction: transaction, token: token).facts
    }

    // C1, T5: also of orders in which a renewal is heard before what it renews
    @Test(
        arguments: [
            ("keep", [["ann"], ["ann"], ["ann"]]), ("transfer", [["ann"], ["bob"], ["bob"]]),
        ] as [(String, [[CustomerID]])]
    )
    func `owns its purchase in whatever order it is told`(
        _ policy: String,
        _ expected: [[CustomerID]]
    ) async throws {
        let signals = [Self.signal(1, "ann"), Self.signal(2, "bob"), Self.signal(3, "bob")]
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            try await Self.with(policy: policy) { scratch in
                let receipts = try scratch.ledger.appender.record(order.map { signals[$0] })
                #expect(receipts.allSatisfy { if case .appended = $0 { true } else { false } })
                #expect(try Self.owners(scratch, days: [10, 40, 70]) == expected)
                try scratch.reopenWithoutViews()
                #expect(try Self.owners(scratch, days: [10, 40, 70]) == expected)
                #expect(try scratch.ledger.auditor.audit().isOK)
            }
        }
    }

    // C1: a restore is not undone by a renewal that carries the old token
    @Test func `takes nothing back by an old token`() async throws {
        try await Self.with(policy: "transfer") { scratch in
            let appender = try scratch.ledger.appender
            _ = try appender.record(Self.signal(1, "ann"))
            let restored = try appender.claim(
                SampleTransaction.make(token: "ann"),
                for: "bob",
                Request(id: "r", source: Source.app, environment: .production)
            )
            guard case .recorded = restored else {
                Issue.record("\(restored)")
                return
            }
            // Its period begins after the restore.
            _ = try appender.record(Self.signal(7, "ann"))
            #expect(try Self.owners(scratch, days: [10, 190]) == [["ann"], ["bob"]])
        }
    }

    // Z6, C1, C6
    @Test func `goes with its customer, who starts anew`() async throws {
        try await Self.with(policy: "keep") { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.record(Self.signal(1, "ann"))
            let planned = try ledger.eraser.plannedErasure(of: ["ann"])
            #expect(
                Set(planned.streams.map(\.subject.description)) == [
                    "customer/ann", "purchase/app_store/1",
                ]
            )
            _ = try ledger.eraser.erase(["ann"], Self.erasure, reading: StoredEvidenceNames())
            #expect(try Self.owners(scratch, days: [10]) == [[]])
            // Heard of again, the same names are new ones.
            _ = try ledger.appender.record(Self.signal(2, "ann"))
            #expect(try Self.owners(scratch, days: [10, 40]) == [["ann"], ["ann"]])
            let periods = try scratch.show("ann", at: Sample.day(10))["tier"]?.string
            #expect(periods == "free", "what was before is not theirs any more")
            #expect(try ledger.auditor.audit().isOK)
        }
    }

    // C1: an erasure changes no answer about anybody else
    @Test func `of an erased customer takes nothing from the next owner`() async throws {
        try await Self.with(policy: "transfer") { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.record(Self.signal(1, "ann"))
            let claimed = try ledger.appender.claim(
                PurchaseName(store: "app_store", originalID: "1"),
                for: "bob",
                Request(id: "r", source: Source.app, environment: .production)
            )
            #expect(claimed == .appended(first: 3, count: 1))
            _ = try ledger.eraser.erase(["ann"], Self.erasure, reading: StoredEvidenceNames())
            // The token is the same, the customer behind it is a new one.
            _ = try ledger.appender.record(Self.signal(7, "ann"))
            #expect(try Self.owners(scratch, days: [190]) == [["bob"]])
            // The control: whom the store names next takes it over.
            _ = try ledger.appender.record(Self.signal(8, "cy"))
            #expect(try Self.owners(scratch, days: [220]) == [["cy"]])
        }
    }

    // C1, C6: what is known is not recorded anew for a name that was erased
    @Test func `of an erased customer is not recorded again`() async throws {
        try await Self.with(policy: "transfer") { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.record(Self.signal(1, "ann"))
            _ = try ledger.appender.claim(
                PurchaseName(store: "app_store", originalID: "1"),
                for: "bob",
                Request(id: "r", source: Source.app, environment: .production)
            )
            _ = try ledger.eraser.erase(["ann"], Self.erasure, reading: StoredEvidenceNames())
            let again = SampleTransaction.make(signed: 1, token: "ann").facts
            #expect(try ledger.appender.record(fetched: [again]) == [.known])
            // The control: somebody who is known is news.
            let news = SampleTransaction.make(signed: 2, token: "bob").facts
            #expect(try ledger.appender.record(fetched: [news]) != [.known])
        }
    }

    private static func linked(
        _ transaction: Int,
        to customer: CustomerID,
        alias: CustomerID = "anonymous"
    ) -> Submission {
        var facts = signal(transaction, "ann")
        facts.links = [
            LinkProposal(
                customer: customer,
                alias: alias,
                time: Sample.newYear,
                observedAt: Sample.newYear
            )
        ]
        return facts
    }

    private static func links(_ ledger: Ledger) throws -> [String] {
        try (0..<ledger.questions.size()).compactMap { sequence in
            let event = try ledger.questions.event(at: sequence)?.event
            return event?.kind == .customerLinked ? event?.subject.description : nil
        }
    }

    // Stores, rule 7; C2
    @Test(arguments: [true, false])
    func `is linked once to the ids that are known already`(_ isBatch: Bool) async throws {
        try await Self.with(policy: "keep") { scratch in
            let ledger = scratch.ledger
            let signals = (1...3).map { Self.linked($0, to: "ann") }
            if isBatch {
                _ = try ledger.appender.record(signals)
            } else {
                for signal in signals { _ = try ledger.appender.record(signal) }
            }
            #expect(try Self.links(ledger) == ["customer/ann"])
            let shown = try scratch.show("anonymous", at: Sample.day(70))
            #expect(shown["purchases"]?.array?.count == 1)
        }
    }

    // C2: a link that comes back after another one is no repeat of what stands
    @Test(arguments: [true, false])
    func `is linked anew where another link came between`(_ isBatch: Bool) async throws {
        try await Self.with(policy: "keep") { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.record(Self.linked(1, to: "ann"))
            let signals = [Self.linked(2, to: "bob"), Self.linked(3, to: "ann")]
            if isBatch {
                _ = try ledger.appender.record(signals)
            } else {
                for signal in signals { _ = try ledger.appender.record(signal) }
            }
            #expect(try Self.links(ledger) == ["customer/ann", "customer/bob", "customer/ann"])
            let shown = try scratch.show("anonymous", at: Sample.day(70))
            #expect(shown["purchases"]?.array?.count == 1)
        }
    }

    // C2: those that are decided at once are decided behind one another all the same
    @Test func `is linked anew where another link came between in a long batch`() async throws {
        try await Self.with(policy: "keep") { scratch in
            let ledger = scratch.ledger
            _ = try ledger.appender.record(Self.linked(1, to: "ann"))
            let between = (3...66).map { Self.signal($0, "ann") }
            _ = try ledger.appender.record(
                [Self.linked(2, to: "bob")] + between + [Self.linked(67, to: "ann")]
            )
            #expect(try Self.links(ledger) == ["customer/ann", "customer/bob", "customer/ann"])
        }
    }

    // C2: an import decides a batch while the one before it is recorded
    @Test func `is linked anew where another link is on its way`() async throws {
        try await Self.with(policy: "keep") { scratch in
            let appender = try scratch.ledger.appender
            _ = try appender.record(Self.linked(1, to: "ann"))
            let (earlier, later) = (BatchLinks(), BatchLinks())
            let first = try appender.decide(
                Self.linked(2, to: "bob"),
                recordedAt: nil,
                in: earlier
            )
            let second = try appender.decide(
                Self.linked(3, to: "ann"),
                recordedAt: nil,
                in: later
            )
            _ = try appender.record([first])
            // The control: of itself it leaves out what the log said.
            #expect(later.isOvertaken(by: earlier) && !earlier.isOvertaken(by: later))
            _ = try appender.record(appender.decided([second], with: later, behind: earlier))
            #expect(
                try Self.links(scratch.ledger) == ["customer/ann", "customer/bob", "customer/ann"]
            )
        }
    }

    // C2: and what is decided anew is held against the next one, too
    @Test func `is linked anew behind a batch that was decided anew`() async throws {
        try await Self.with(policy: "keep") { scratch in
            let appender = try scratch.ledger.appender
            let links = [BatchLinks(), BatchLinks(), BatchLinks()]
            func decided(_ transaction: Int, _ customer: CustomerID) throws -> DecidedSubmission {
                try appender.decide(
                    Self.linked(transaction, to: customer),
                    recordedAt: nil,
                    in: links[transaction - 2]
                )
            }
            _ = try appender.record(Self.linked(1, to: "ann"))
            let (first, second) = (try decided(2, "bob"), try decided(3, "ann"))
            _ = try appender.record([first])
            let third = try decided(4, "bob")
            for (number, submission) in [(1, second), (2, third)] {
                _ = try appender.record(
                    appender.decided(
                        [submission],
                        with: links[number],
                        behind: links[number - 1]
                    )
                )
            }
            #expect(
                try Self.links(scratch.ledger) == [
                    "customer/ann", "customer/bob", "customer/ann", "customer/bob",
                ]
            )
        }
    }

    // What the earlier batch recorded before the later one looked is no reason to decide anew.
    @Test func `is not overtaken by what it has seen`() async throws {
        try await Self.with(policy: "keep") { scratch in
            let appender = try scratch.ledger.appender
            let (earlier, later) = (BatchLinks(), BatchLinks())
            let first = try appender.decide(
                Self.linked(1, to: "ann"),
                recordedAt: nil,
                in: earlier
            )
            _ = try appender.record([first])
            _ = try appender.decide(Self.linked(2, to: "ann"), recordedAt: nil, in: later)
            #expect(!later.isOvertaken(by: earlier))
        }
    }

    // E1: what is handed in twice under one id is recorded once, and so are its links
    @Test(arguments: [true, false])
    func `is linked although a repeat said it before`(_ isBatch: Bool) async throws {
        try await Self.with(policy: "keep") { scratch in
            let ledger = scratch.ledger
            let signals = [
                Self.linked(1, to: "ann"), Self.linked(1, to: "bob"), Self.linked(2, to: "bob"),
            ]
            if isBatch {
                _ = try ledger.appender.record(signals)
            } else {
                for signal in signals { _ = try ledger.appender.record(signal) }
            }
            #expect(try Self.links(ledger) == ["customer/ann", "customer/bob"])
        }
    }

    // C2: a link that would close a circle counts no more in a batch than in the log
    @Test(arguments: [true, false])
    func `is linked where a circle was passed over before`(_ isBatch: Bool) async throws {
        try await Self.with(policy: "keep") { scratch in
            let ledger = scratch.ledger
            let signals = [
                Self.linked(1, to: "ann", alias: "x"), Self.linked(2, to: "x", alias: "ann"),
                Self.linked(3, to: "bob", alias: "x"), Self.linked(4, to: "x", alias: "ann"),
            ]
            if isBatch {
                _ = try ledger.appender.record(signals)
            } else {
                for signal in signals { _ = try ledger.appender.record(signal) }
            }
            #expect(try Self.links(ledger) == ["customer/ann", "customer/bob", "customer/x"])
        }
    }

    private static let erasure = Request(
        id: "erasure",
        source: Source.support,
        environment: .production
    )
}
