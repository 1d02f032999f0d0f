import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import LedgerOperations
import ModelSupport
import Testing

/// What would come of something, tried in memory (E4).
struct `A draft of a ledger` {
    private static func with(_ body: (ScratchLedger) async throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            let lines = (0..<200).flatMap { Sample.ownedPurchase("u\($0)", "app_store/\($0)") }
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            try await body(scratch)
        }
    }

    private static func state(
        _ customer: CustomerID,
        _ ledger: Ledger,
        known: BitemporalPoint.Known = .everything
    ) throws -> JSONValue {
        let question = CustomerQuestion(
            customer: customer,
            environment: .production,
            point: BitemporalPoint(at: Sample.day(10), knownAt: known)
        )
        let members = try ledger.questions.show(question).json.members ?? []
        return .object(members.filter { !["sequence", "token"].contains($0.name) })
    }

    // Enough to fill more than a bundle behind the place where it begins.
    @Test func `answers as the ledger would once the same is recorded, which it is not`()
        async throws
    {
        try await Self.with { scratch in
            let ledger = scratch.ledger
            let (size, root) = try (ledger.questions.size(), ledger.auditor.audit().rootHash)
            let draft = try ledger.draft()
            let lines = (0..<300).flatMap { Sample.ownedPurchase("n\($0)", "app_store/n\($0)") }
            let tried = try draft.appender.record(Sample.submissions(lines))
            #expect(try draft.questions.size() == size + 900)
            #expect(try ledger.questions.size() == size && ledger.auditor.audit().rootHash == root)
            let new = try Self.state("n299", draft)
            #expect(new["tier"] == "pro")
            #expect(try Self.state("n299", ledger)["tier"] == "free")
            #expect(try Self.state("u7", draft) == Self.state("u7", ledger))
            try draft.close()

            let done = try ledger.appender.record(Sample.submissions(lines))
            #expect(done == tried)
            #expect(try Self.state("n299", ledger) == new)
        }
    }

    @Test func `does not see what is recorded after it began`() async throws {
        try await Self.with { scratch in
            let ledger = scratch.ledger
            let size = try ledger.questions.size()
            let draft = try ledger.draft()
            _ = try ledger.appender.record(
                Sample.submissions(Sample.ownedPurchase("late", "app_store/l"))
            )
            _ = try draft.appender.record(
                Sample.submissions(Sample.ownedPurchase("own", "app_store/o"))
            )
            var subjects: [String] = []
            try draft.questions.events(EventFilter(sequences: size - 1..<size + 9)) { _, event in
                subjects.append(event["subject"]?.string ?? "")
                return true
            }
            #expect(
                subjects.dropFirst() == [
                    "purchase/app_store/o", "purchase/app_store/o", "customer/own",
                ]
            )
            #expect(try Self.state("late", draft)["tier"] == "free")
            #expect(try Self.state("own", draft)["tier"] == "pro")
            try draft.close()
        }
    }

    @Test func `is made of a ledger that is only read`() async throws {
        try await Self.with { scratch in
            try scratch.close()
            let reader = try Ledger.open(
                at: scratch.path,
                options: ScratchLedger.options(scratch.clock, isReadOnly: true)
            )
            let draft = try reader.draft()
            _ = try draft.appender.record(
                Sample.submissions(Sample.ownedPurchase("own", "app_store/o"))
            )
            #expect(try Self.state("own", draft)["tier"] == "pro")
            #expect(throws: LedgerFault.self) {
                _ = try reader.appender.record(
                    Sample.submissions(Sample.ownedPurchase("x", "app_store/x"))
                )
            }
            try draft.close()
            try reader.close()
            try scratch.reopen()
            #expect(try scratch.ledger.auditor.audit().isOK)
        }
    }
}
