import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import LedgerOperations
import Stores
import Testing

/// The search by an id that somebody reads out (row 8.6; Storage, "Vault and erasure").
struct `A search by a transaction's id` {
    private static let order = "GPA.3300-1111-2222-33333"

    /// A purchase with an order of its own, owned by a customer.
    private static func buy(
        _ customer: String,
        _ purchase: String,
        _ order: String,
        in scratch: ScratchLedger
    ) throws {
        let lines = [
            Sample.line(
                "buy-" + purchase,
                "purchase.completed",
                "purchase/" + purchase,
                data: #"{"transactionId":"\#(order)","productId":"pro.life","#
                    + #""productKind":"non_consumable"}"#
            ),
            Sample.line(
                "claim-" + purchase,
                "customer.claimed",
                "customer/" + customer,
                data: #"{"purchase":"\#(purchase)"}"#
            ),
        ]
        for receipt in try scratch.ledger.appender.record(Sample.submissions(lines)) {
            guard case .appended = receipt else { throw NotRecorded() }
        }
    }

    private struct NotRecorded: Error {}

    private static func found(_ text: String, in ledger: Ledger) throws -> [IdentifierMatch] {
        let search = try ledger.questions.search(text, in: .production, at: Sample.newYear)
        #expect(search.unread == 0)
        return search.matches
    }

    private static let match = IdentifierMatch.transaction(
        PurchaseName(store: Source.playStore, originalID: "token-1"),
        owner: "ann"
    )

    @Test func `finds it at once, and after it was read, reopened, rebuilt, by no part of it`()
        async throws
    {
        try await ScratchLedger.with { scratch in
            try Self.buy("ann", "play_store/token-1", Self.order, in: scratch)
            try Self.buy("bob", "play_store/token-2", "GPA.other", in: scratch)
            // Not read into the table yet: in the log's last records.
            #expect(try scratch.directory.vault.identifiersEnd() == 0)
            #expect(try Self.found(Self.order, in: scratch.ledger) == [Self.match])
            let size = try scratch.ledger.questions.size()
            #expect(try scratch.ledger.identifiers.readOn() == 0)
            #expect(try scratch.directory.vault.identifiersEnd() == size)
            for _ in 0..<2 {
                #expect(try scratch.directory.vault.streams(holding: Self.order).count == 1)
                #expect(try Self.found(Self.order, in: scratch.ledger) == [Self.match])
                for text in [String(Self.order.dropLast()), "GPA.", "33333"] {
                    #expect(try Self.found(text, in: scratch.ledger) == [], "\(text)")
                }
                let elsewhere = try scratch.ledger.questions.search(
                    Self.order,
                    in: .sandbox,
                    at: Sample.newYear
                )
                #expect(elsewhere.matches.isEmpty)
                try scratch.reopenWithoutViews()
            }
            // Lost, as where the vault comes from a backup: the log gives all of it again.
            try scratch.directory.vault.removeIdentifiers()
            #expect(try Self.found(Self.order, in: scratch.ledger) == [Self.match])
            try scratch.ledger.identifiers.readAnew()
            #expect(try scratch.directory.vault.identifiersEnd() == size)
            #expect(try Self.found(Self.order, in: scratch.ledger) == [Self.match])
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
            // A purchase's own id is found as that alone.
            let whole = try Self.found("token-1", in: scratch.ledger)
            #expect(whole.count == 1 && whole != [Self.match])
        }
    }

    // An audit takes minutes, and a server records meanwhile.
    @Test func `is sound where it was read on while the log was checked`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.buy("ann", "play_store/token-1", Self.order, in: scratch)
            var isDone = false
            var fault: (any Error)?
            let answer = try scratch.ledger.auditor.audit { _, _ in
                guard !isDone else { return }
                isDone = true
                do {
                    try Self.buy("bob", "play_store/token-2", "GPA.other", in: scratch)
                    _ = try scratch.ledger.identifiers.readOn()
                } catch { fault = error }
            }
            #expect(isDone && fault == nil)
            #expect(answer.faults.isEmpty)
            // The control: a table that is ahead of its log is found.
            let size = try scratch.ledger.questions.size()
            try scratch.directory.vault.add([], from: size, upTo: size + 1)
            #expect(try scratch.ledger.auditor.audit().faults.map(\.kind) == [.view])
        }
    }

    @Test(arguments: [false, true])
    func `finds nothing of who was erased`(_ isRead: Bool) async throws {
        try await ScratchLedger.with { scratch in
            try Self.buy("ann", "play_store/token-1", Self.order, in: scratch)
            try Self.buy("bob", "play_store/token-2", "GPA.other", in: scratch)
            if isRead { _ = try scratch.ledger.identifiers.readOn() }
            #expect(try Self.found(Self.order, in: scratch.ledger) == [Self.match], "the control")
            let request = Request(id: "e", source: Source.support, environment: .production)
            guard
                case .erased = try scratch.ledger.eraser.erase(
                    ["ann"],
                    request,
                    reading: StoredEvidenceNames()
                )
            else { throw NotRecorded() }
            for round in 0..<3 {
                #expect(try Self.found(Self.order, in: scratch.ledger) == [])
                #expect(try Self.found("GPA.other", in: scratch.ledger).count == 1)
                #expect(try scratch.directory.vault.streams(holding: Self.order) == [])
                if round == 1 { try scratch.ledger.identifiers.readAnew() }
                try scratch.reopen()
            }
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
        }
    }

    private static func stream(_ number: Int, in scratch: ScratchLedger) throws -> UInt64 {
        let name = StreamName(
            environment: StoreEnvironment.production.rawValue,
            subject: "purchase/play_store/token-\(number)"
        )
        return try #require(try scratch.directory.vault.stream(of: name))
    }

    // An erasure takes the key of a shard; whoever shares it is read again from the log.
    @Test
    func `finds who shares a shard with one who was erased, before and after it is read again`()
        async throws
    {
        try await ScratchLedger.with { scratch in
            // Two of one shard: among so many there are some.
            var shards: [Int: Int] = [:]
            var pair: (gone: Int, stays: Int)?
            for number in 0..<4000 where pair == nil {
                try Self.buy(
                    "user-\(number)",
                    "play_store/token-\(number)",
                    "GPA.\(number)",
                    in: scratch
                )
                let shard = StreamNumber.shard(of: try Self.stream(number, in: scratch))
                if let other = shards.updateValue(number, forKey: shard) { pair = (number, other) }
            }
            let (gone, stays) = try #require(pair)
            while try scratch.ledger.identifiers.readOn() > 0 {}
            #expect(try Self.found("GPA.\(stays)", in: scratch.ledger).count == 1)
            let request = Request(id: "e", source: Source.support, environment: .production)
            guard
                case .erased = try scratch.ledger.eraser.erase(
                    [CustomerID(stringLiteral: "user-\(gone)")],
                    request,
                    reading: StoredEvidenceNames()
                )
            else { throw NotRecorded() }
            let vault = scratch.directory.vault
            #expect(try !vault.outdatedShards().isEmpty)
            #expect(try vault.streams(holding: "GPA.\(stays)") == [], "it is not in the table")
            #expect(try Self.found("GPA.\(stays)", in: scratch.ledger).count == 1)
            #expect(try Self.found("GPA.\(gone)", in: scratch.ledger) == [])
            while try scratch.ledger.identifiers.readOn() > 0 {}
            #expect(try vault.outdatedShards() == [])
            let stream = try Self.stream(stays, in: scratch)
            #expect(try vault.streams(holding: "GPA.\(stays)") == [stream])
            #expect(try Self.found("GPA.\(stays)", in: scratch.ledger).count == 1)
            #expect(try Self.found("GPA.\(gone)", in: scratch.ledger) == [])
            #expect(try scratch.ledger.auditor.audit().faults.isEmpty)
        }
    }

    // The table holds some bits of a digest, which others may share.
    @Test func `believes only what stands in a record`() async throws {
        try await ScratchLedger.with { scratch in
            try Self.buy("ann", "play_store/token-1", Self.order, in: scratch)
            #expect(try scratch.ledger.identifiers.readOn() == 0)
            let stream = try Self.stream(1, in: scratch)
            let size = try scratch.ledger.questions.size()
            let other = HeldIdentifier(stream: stream, text: "GPA.other")
            try scratch.directory.vault.add([other], from: size, upTo: size)
            #expect(try scratch.directory.vault.streams(holding: "GPA.other") == [stream])
            #expect(try Self.found("GPA.other", in: scratch.ledger) == [])
            #expect(try Self.found(Self.order, in: scratch.ledger) == [Self.match])
        }
    }
}
