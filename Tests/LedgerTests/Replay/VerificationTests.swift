import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LedgerAPI
import LedgerOperations
import Stores
import Testing

/// Recorded evidence, judged by today's roots and revocations (Stores, rule 5; row 7.5).
struct `Evidence that is verified again` {
    /// The words in evidence that fails, as `SampleTransaction` writes it: `.PURCHASE.TRANSACTION.N`.
    private static func verdict(failing words: [String]) -> AuditReplay.Verify {
        { evidence, event, _ in
            if event.source == Source.revenueCat { return .unsigned }
            let text = String(decoding: evidence, as: UTF8.self)
            return words.contains { text.contains($0) }
                ? .refused(code: "untrusted_root") : .verified
        }
    }

    private static func with(_ body: (ScratchLedger) async throws -> Void) async throws {
        // The second period of each runs.
        try await ScratchLedger.with(clock: TestClock(Sample.day(40))) { scratch in
            _ = try scratch.ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            for (customer, purchase) in [("ann", "1"), ("bob", "2")] as [(CustomerID, String)] {
                for transaction in 1...2 {
                    _ = try scratch.ledger.appender.claim(
                        SampleTransaction.make(purchase, transaction: transaction),
                        for: customer,
                        Request(
                            id: "c\(purchase).\(transaction)",
                            source: Source.app,
                            environment: .production
                        )
                    )
                }
            }
            try await body(scratch)
        }
    }

    private static func verified(
        _ scratch: ScratchLedger,
        of customer: CustomerID? = nil,
        failing words: [String] = [],
        recording: Bool = false
    ) throws -> VerificationAnswer {
        try scratch.ledger.auditor.verifyEvidence(
            of: customer,
            environment: .production,
            recording: recording,
            by: verdict(failing: words)
        )
    }

    private static func tier(_ scratch: ScratchLedger, _ customer: CustomerID) throws -> JSONValue?
    {
        try scratch.show(customer, at: scratch.clock.now)["tier"]
    }

    private static func failed(_ scratch: ScratchLedger, from size: UInt64) throws -> [Event] {
        try (size..<scratch.ledger.questions.size())
            .compactMap { try scratch.ledger.questions.event(at: $0)?.event }
            .filter { $0.kind == .verificationFailed }
    }

    @Test func `is counted, and of a customer listed`() async throws {
        try await Self.with { scratch in
            let all = try Self.verified(scratch, failing: [".2.1."])
            #expect(all.counts.verified == 3 && all.counts.failed == 1 && !all.isOK)
            #expect(all.lapsed == 1 && all.recorded == 0)
            #expect(all.evidence.map(\.purchases) == [["app_store/2"]])
            #expect(all.evidence.map(\.code) == ["untrusted_root"])
            let ann = try Self.verified(scratch, of: "ann", failing: [".2.1."])
            #expect(ann.isOK && ann.evidence.map(\.outcome) == [.verified, .verified])
            #expect(ann.evidence.map(\.sequence) == [1, 5])
            let nobody = try Self.verified(scratch, of: "nobody", failing: ["."])
            #expect(nobody.isOK && nobody.evidence.isEmpty)
            #expect(try scratch.ledger.questions.size() == all.sequence, "nothing is recorded")
        }
    }

    // P7, E1: from now on, of that transaction, once
    @Test func `closes what rested on what fails, once`() async throws {
        try await Self.with { scratch in
            let size = try scratch.ledger.questions.size()
            #expect(try Self.tier(scratch, "ann") == "pro")
            let answer = try Self.verified(scratch, failing: [".1.2."], recording: true)
            #expect(answer.lapsed == 1 && answer.recorded == 1)
            let events = try Self.failed(scratch, from: size)
            #expect(events.map(\.subject.description) == ["purchase/app_store/1"])
            #expect(events[0].data.text(.transactionID) == "1.2")
            #expect(events[0].data.text(.method) == "app_store_jws")
            #expect(events[0].data.text(.reason) == "untrusted_root")
            #expect(events[0].source == Source.ledger && events[0].time == scratch.clock.now)
            #expect(try Self.tier(scratch, "ann") == "free")
            #expect(try Self.tier(scratch, "bob") == "pro")
            // The first period is as it was.
            #expect(try scratch.show("ann", at: Sample.day(10))["tier"] == "pro")
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 1000)
            let again = try Self.verified(scratch, failing: [".1.2."], recording: true)
            #expect(again.counts.failed == 1 && again.lapsed == 1 && again.recorded == 0)
            #expect(try scratch.ledger.questions.size() == size + 1)
            #expect(try scratch.ledger.auditor.audit().isOK)
        }
    }

    // P7: a later verdict counts, and may lapse again.
    @Test func `opens again by a later verdict, and closes again`() async throws {
        try await Self.with { scratch in
            _ = try Self.verified(scratch, failing: [".1.2."], recording: true)
            scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 1000)
            // The store signs it anew, and the new signature is another one.
            let period = SampleTransaction.make("1", transaction: 2, signed: 5).facts
            let passed = period.drafts[1]
            let verdict = EventDraft(
                subject: passed.subject,
                time: scratch.clock.now,
                data: passed.data
            )
            _ = try scratch.ledger.appender.record(
                Submission(
                    id: "anew",
                    source: Source.appStore,
                    environment: .production,
                    nature: .signal,
                    drafts: [verdict],
                    evidence: Array("anew".utf8)
                )
            )
            #expect(try Self.tier(scratch, "ann") == "pro")
            let held = try Self.verified(scratch, failing: [".1.2."], recording: true)
            #expect(held.counts.failed == 1 && held.lapsed == 0 && held.recorded == 0)
            #expect(try Self.tier(scratch, "ann") == "pro")
            let both = try Self.verified(scratch, failing: [".1.2.", "anew"], recording: true)
            // Each rests on nothing else; one verdict says so.
            #expect(both.counts.failed == 2 && both.lapsed == 2 && both.recorded == 1)
            #expect(try Self.tier(scratch, "ann") == "free")
        }
    }

    // Somebody's word, and what a channel vouched for
    @Test(
        arguments: [
            (Source.support, "manual", nil), (Source.revenueCat, "channel_secret", "body"),
        ] as [(String, String, String?)]
    )
    func `takes nothing that something else bears out`(
        _ source: String,
        _ method: String,
        _ evidence: String?
    ) async throws {
        try await Self.with { scratch in
            let verdict = EventDraft(
                subject: .purchase(PurchaseName(store: "app_store", originalID: "1")),
                time: Sample.day(3),
                data: EventData(
                    .verificationPassed,
                    [.transactionID: .text("1.2"), .method: .text(method)]
                )
            )
            _ = try scratch.ledger.appender.record(
                Submission(
                    id: "other",
                    source: source,
                    environment: .production,
                    nature: .signal,
                    drafts: [verdict],
                    evidence: evidence.map { Array($0.utf8) }
                )
            )
            let answer = try Self.verified(scratch, failing: [".1.1.", ".1.2."], recording: true)
            // The control: the first period has nothing else.
            #expect(answer.counts.failed == 2 && answer.lapsed == 1 && answer.recorded == 1)
            #expect(try Self.tier(scratch, "ann") == "pro")
            #expect(try scratch.show("ann", at: Sample.day(10))["tier"] == "pro")
        }
    }

    @Test func `that nobody can judge takes nothing`() async throws {
        try await Self.with { scratch in
            let answer = try scratch.ledger.auditor.verifyEvidence(
                environment: .production,
                recording: true
            ) { _, _, _ in .unchecked }
            #expect(answer.isOK && answer.counts.unchecked == 4 && answer.recorded == 0)
            let sandbox = try scratch.ledger.auditor.verifyEvidence(
                environment: .sandbox,
                recording: true
            ) { _, _, _ in .refused(code: "bad_chain") }
            #expect(sandbox.isOK && sandbox.counts.failed == 0 && sandbox.evidence.isEmpty)
        }
    }

    // C6
    @Test func `is gone with its customer`() async throws {
        try await Self.with { scratch in
            _ = try scratch.ledger.eraser.erase(
                ["ann"],
                Request(id: "e", source: Source.support, environment: .production),
                reading: StoredEvidenceNames()
            )
            let answer = try Self.verified(scratch, failing: ["."], recording: true)
            #expect(answer.counts.erased == 2 && answer.counts.failed == 2)
            #expect(answer.recorded == 2)
        }
    }

    // More than are listed, over more than one batch of the log
    @Test func `is counted beyond what is listed`() async throws {
        try await Self.with { scratch in
            let signals = (0..<1500).map { SampleTransaction.make("many\($0)").facts }
            _ = try scratch.ledger.appender.record(signals)
            let answer = try Self.verified(scratch, failing: ["many"])
            #expect(answer.counts.failed == 1500 && answer.counts.verified == 4)
            #expect(answer.evidence.count == 1000 && !answer.isWhole)
            #expect(answer.lapsed == 1500)
        }
    }

    @Test func `is recorded by a writer only`() async throws {
        try await Self.with { scratch in
            try scratch.close()
            let reader = try Ledger.open(
                at: scratch.path,
                options: ScratchLedger.options(scratch.clock, isReadOnly: true)
            )
            let found = try reader.auditor.verifyEvidence(
                environment: .production,
                by: Self.verdict(failing: [".1.2."])
            )
            #expect(found.counts.failed == 1)
            #expect(throws: LedgerFault.self) {
                _ = try reader.auditor.verifyEvidence(
                    environment: .production,
                    recording: true,
                    by: Self.verdict(failing: [])
                )
            }
            try reader.close()
            try scratch.reopen()
        }
    }
}
