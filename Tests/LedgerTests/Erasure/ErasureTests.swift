import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import Stores
import Testing

/// Erasure as a caller sees it (C6, row 9.5, Z6).
struct `An erased customer` {
    private static func name(_ id: String) -> PurchaseName {
        PurchaseName(store: Source.appStore, originalID: id)
    }

    @discardableResult
    private static func erase(
        _ customers: [CustomerID],
        id: String = "erase-1",
        in scratch: ScratchLedger
    ) throws -> ErasureReceipt {
        let request = Request(id: id, source: Source.support, environment: .production)
        guard
            case .erased(let receipt) = try scratch.ledger.eraser.erase(
                customers,
                request,
                reading: StoredEvidenceNames()
            )
        else {
            throw NotErased()
        }
        return receipt
    }

    private struct NotErased: Error {}

    /// A purchase for life that a customer owns, its ids made from `id`.
    private static func buy(
        _ customer: String,
        _ id: String,
        round: Int = 1,
        in scratch: ScratchLedger
    ) throws {
        if try scratch.ledger.questions.size() == 0 {
            _ = try scratch.ledger.appender.publish(
                Sample.catalog(policy: "transfer"),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
        }
        let lines = Sample.ownedPurchase(
            customer,
            "app_store/" + id,
            product: "pro.life",
            kind: "non_consumable",
            until: nil
        ).map { $0.replacingOccurrences(of: "\"id\":\"", with: "\"id\":\"\(round)-\(customer)-") }
        for receipt in try scratch.ledger.appender.record(Sample.submissions(lines)) {
            guard case .appended = receipt else { throw NotErased() }
        }
    }

    private static func can(_ customer: CustomerID, in scratch: ScratchLedger) throws -> Bool {
        try scratch.ledger.questions.can(
            customer,
            "export",
            environment: .production,
            at: scratch.clock.now
        )
    }

    @Test func `is nobody from then on, while audit and others stand`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.buy("ann", "1", in: scratch)
            try Self.buy("bob", "2", in: scratch)
            #expect(try Self.can("ann", in: scratch) && Self.can("bob", in: scratch))
            let plan = try scratch.ledger.eraser.plannedErasure(of: ["ann", "nobody"])
            #expect(plan.unknown == ["nobody"])
            #expect(
                plan.streams.map(\.subject) == [.customer("ann"), .purchase(Self.name("1"))]
            )
            let receipt = try Self.erase(["ann"], in: scratch)
            #expect(receipt.streams == plan.streams.map(\.number).sorted())
            for _ in 0..<2 {
                #expect(try !Self.can("ann", in: scratch))
                #expect(try Self.can("bob", in: scratch))
                let shown = try scratch.show("ann")
                #expect(!shown.description.contains("app_store/1"), "\(shown)")
                #expect(
                    try !scratch.ledger.questions.isKnown(Self.name("1"), environment: .production)
                )
                #expect(
                    try scratch.ledger.questions.isKnown(Self.name("2"), environment: .production)
                )
                #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
                #expect(try scratch.ledger.eraser.erasureReceipt(at: receipt.sequence) == receipt)
                try scratch.reopen()
            }
        }
    }

    // C6
    @Test func `is shown as a number, without ids`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.buy("ann", "1", in: scratch)
            let receipt = try Self.erase(["ann"], in: scratch)
            var texts: [String] = []
            try scratch.ledger.questions.events(EventFilter(sequences: 1..<100)) { _, event in
                #expect(event["id"] == .null)
                texts.append(event.description)
                return true
            }
            #expect(texts.count == 4)
            let all = texts.joined()
            for number in receipt.streams { #expect(all.contains("erased/\(number)")) }
            for id in ["ann", "app_store/1", "t-1", "buy-"] { #expect(!all.contains(id), "\(id)") }
        }
    }

    @Test func `can come back as somebody new, again and again`() async throws {
        try await ScratchLedger.with { scratch in
            var numbers: Set<UInt64> = []
            for round in 1...4 {
                try Self.buy("ann", "1", round: round, in: scratch)
                #expect(try Self.can("ann", in: scratch))
                let receipt = try Self.erase(["ann"], id: "erase-\(round)", in: scratch)
                #expect(receipt.generation == UInt64(round))
                #expect(numbers.isDisjoint(with: receipt.streams))
                numbers.formUnion(receipt.streams)
                #expect(try !Self.can("ann", in: scratch))
                if round % 2 == 0 { try scratch.reopen() }
                #expect(try !Self.can("ann", in: scratch))
            }
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
        }
    }

    // E1
    @Test func `is not called back by a signal that was seen before`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.buy("ann", "1", in: scratch)
            try Self.erase(["ann"], in: scratch)
            let size = try scratch.ledger.questions.size()
            let lines = Sample.ownedPurchase("ann", "app_store/1", product: "pro.life")
                .map { $0.replacingOccurrences(of: "\"id\":\"", with: "\"id\":\"1-ann-") }
            for receipt in try scratch.ledger.appender.record(Sample.submissions(lines)) {
                guard case .duplicate = receipt else {
                    Issue.record("\(receipt)")
                    continue
                }
            }
            #expect(try scratch.ledger.questions.size() == size)
            #expect(try !Self.can("ann", in: scratch))
        }
    }

    // E1: the request as well.
    @Test func `is erased once by one request`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.buy("ann", "1", in: scratch)
            try Self.buy("bob", "2", in: scratch)
            let first = try Self.erase(["ann"], in: scratch)
            #expect(try Self.erase(["ann"], in: scratch) == first)
            #expect(throws: NotErased.self, "it does not pass for another's erasure") {
                try Self.erase(["bob"], in: scratch)
            }
            #expect(try Self.can("bob", in: scratch))
            let request = Request(id: "e", source: Source.support, environment: .production)
            #expect(
                try scratch.ledger.eraser.erase(
                    ["ann", "cy"],
                    request,
                    reading: StoredEvidenceNames()
                )
                    == .unknown
            )
            let taken = Request(
                id: "1-bob-buy-app_store/2",
                source: Source.support,
                environment: .production
            )
            guard
                case .refused = try scratch.ledger.eraser.erase(
                    ["bob"],
                    taken,
                    reading: StoredEvidenceNames()
                )
            else {
                Issue.record("another request's id is taken")
                return
            }
            #expect(try Self.can("bob", in: scratch))
        }
    }

    @Test func `goes with links and in every environment; shared purchases stay with others`()
        async throws
    {
        try await ScratchLedger.with { scratch in
            try Self.buy("ann", "1", in: scratch)
            try Self.buy("ann", "2", in: scratch)
            // Another owns the second one now; the first is known to another store by its alias.
            try Self.buy("bob", "2", round: 2, in: scratch)
            let lines = [
                Sample.line(
                    "l1",
                    "customer.linked",
                    "customer/ann",
                    data: #"{"alias":"anonymous"}"#
                ),
                Sample.line(
                    "l2",
                    "purchase.linked",
                    "purchase/app_store/1",
                    data: #"{"alias":"rc_billing/9"}"#
                ),
                Sample.line(
                    "l3",
                    "flow.started",
                    "customer/ann",
                    data: #"{"flowId":"f"}"#,
                    more: #","environment":"sandbox""#
                ),
            ]
            for receipt in try scratch.ledger.appender.record(Sample.submissions(lines)) {
                guard case .appended = receipt else {
                    Issue.record("\(receipt)")
                    continue
                }
            }
            for asked: CustomerID in ["ann", "anonymous"] {
                let plan = try scratch.ledger.eraser.plannedErasure(of: [asked])
                let production = plan.streams.filter { $0.environment == .production }
                #expect(
                    Set(production.map(\.subject)) == [
                        .customer("ann"), .customer("anonymous"), .purchase(Self.name("1")),
                        .purchase(PurchaseName(store: "rc_billing", originalID: "9")),
                    ]
                )
                #expect(plan.streams.count == (asked == "ann" ? 5 : 4))
            }
            let both = try scratch.ledger.eraser.plannedErasure(of: ["ann", "anonymous", "ann"])
            #expect(both.unknown.isEmpty && both.streams.count == 5)
            try Self.erase(["anonymous", "ann"], in: scratch)
            #expect(try Self.can("bob", in: scratch))
            #expect(try scratch.ledger.questions.isKnown(Self.name("2"), environment: .production))
            #expect(try !scratch.ledger.questions.isKnown(Self.name("1"), environment: .production))
            #expect(try scratch.ledger.eraser.plannedErasure(of: ["ann"]).unknown == ["ann"])
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
        }
    }

    @Test func `has a receipt that names nobody and whose signature anybody checks`() async throws {
        try await ScratchLedger.with { scratch in
            // A name that no base64 has by chance.
            try Self.buy("ann-1", "1", in: scratch)
            let receipt = try Self.erase(["ann-1"], in: scratch)
            for id in ["ann-1", "app_store", "erase-1"] {
                #expect(!AnswerText(receipt).description.contains(id), "\(id)")
            }
            let manifest = try LedgerDirectory.manifest(at: scratch.path)
            let key = try VerifierKey(parsing: manifest.publicKey)
            let note = try SignedNote.parse(receipt.note)
            #expect(throws: Never.self) { try note.verified(by: [key]) }
            #expect(note.text.contains("tree \(receipt.treeSize) \(receipt.rootHash)"))
            let forged = receipt.note.replacingOccurrences(of: "sequence 4", with: "sequence 5")
            #expect(forged != receipt.note)
            #expect(throws: NoteFault.self) { try SignedNote.parse(forged).verified(by: [key]) }
            #expect(throws: NoteFault.self, "no checkpoint") {
                try Checkpoint(note.verified(by: [key]))
            }
        }
    }

    @Test func `leaves a token that says so`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.buy("ann", "1", in: scratch)
            let text = try #require(try scratch.show("ann")["token"]?.string)
            let token = try #require(DecisionToken(text))
            #expect(try scratch.ledger.questions.answer(to: token).answer != nil)
            try Self.erase(["ann"], in: scratch)
            try Self.buy("ann", "1", round: 2, in: scratch)
            let refusal = try scratch.ledger.questions.answer(to: token).refusal
            #expect(refusal?.code == .erased)
        }
    }

    @Test func `is one of many that go together`() async throws {
        try await ScratchLedger.with { scratch in
            let customers = (1...60).map { "customer-\($0)" as CustomerID }
            for (index, customer) in customers.enumerated() {
                try Self.buy(customer.text, "\(index)", in: scratch)
            }
            let gone = Array(customers.prefix(50))
            let receipt = try Self.erase(gone, in: scratch)
            #expect(receipt.streams.count == 100)
            #expect(receipt.generation == 1)
            try scratch.reopen()
            for customer in customers {
                #expect(try Self.can(customer, in: scratch) != gone.contains(customer))
            }
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
        }
    }

    // E4: what was sealed for a stream that goes is sealed again.
    @Test func `is nobody while others write and ask`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.buy("zoe", "z", in: scratch)
            for number in 0..<6 { try Self.buy("c\(number)", "\(number)", in: scratch) }
            let ledger = scratch.ledger
            let now = scratch.clock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<3 {
                    group.addTask {
                        for turn in 0..<60 {
                            // New names, known names, and those who are going.
                            let customer: CustomerID =
                                turn % 3 == 0 ? "new-\(lane)-\(turn)" : "c\(turn % 6)"
                            let line = Sample.line(
                                "g-\(lane)-\(turn)",
                                "grant.given",
                                "customer/\(customer)",
                                data: #"{"grantId":"g","features":["export"]}"#
                            )
                            let submission = try Sample.submissions([line])[0]
                            guard
                                case .appended = try await ledger.appender.record(
                                    concurrently: submission
                                )
                            else { throw NotErased() }
                            #expect(
                                try ledger.questions.can(
                                    customer,
                                    "export",
                                    environment: .production,
                                    at: now
                                ) || turn % 3 != 0
                            )
                            #expect(
                                try ledger.questions.can(
                                    "zoe",
                                    "export",
                                    environment: .production,
                                    at: now
                                )
                            )
                        }
                    }
                }
                group.addTask {
                    for number in 0..<6 {
                        let request = Request(
                            id: "erase-\(number)",
                            source: Source.support,
                            environment: .production
                        )
                        guard
                            case .erased = try ledger.eraser.erase(
                                ["c\(number)"],
                                request,
                                reading: StoredEvidenceNames()
                            )
                        else {
                            throw NotErased()
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
            let replayed = try scratch.ledger.auditor.replay(
                point: BitemporalPoint(at: now, knownAt: .everything),
                environment: .production
            ) { _, _ in }
            #expect(replayed.differences.isEmpty)
            try scratch.reopen()
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
        }
    }
}
