import Encodings
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import LedgerOperations
import ModelSupport
import Salvage
import Synchronization
import Testing

@testable import EntitlementLedger

/// What is asked of a ledger that was rescued without a record (row 3.6, row Z5).
struct `A ledger that lacks a record` {
    private static func question(_ customer: CustomerID) -> CustomerQuestion {
        CustomerQuestion(
            customer: customer,
            environment: .production,
            point: BitemporalPoint(at: Sample.day(3), knownAt: .everything)
        )
    }

    /// Lends what a salvage makes of a ledger whose record at a place is full of zeros.
    private static func withoutRecord(
        at sequence: UInt64,
        of scratch: ScratchLedger,
        _ body: (OpenLedger) throws -> Void
    ) throws {
        let record = try scratch.record(at: sequence)
        try scratch.close()
        try `A salvage`.damage(scratch.path) { `A salvage`.erase(record, in: &$0) }
        let rescued = scratch.path + "-rescued"
        let report = try `A salvage`.rescue(scratch.path, into: rescued)
        #expect(report.gaps.map(\.sequences) == [sequence..<(sequence + 1)], "the control")
        let open = try OpenLedger(at: rescued, options: ScratchLedger.options(TestClock()))
        defer { Forking.lock.withLock { _ in try? open.close() } }
        try body(open)
    }

    // row Z11: a token names its customer by the first event about them.
    @Test func `refuses a token whose customer it named, and answers the others`() async throws {
        try await `A salvage`.filled { scratch in
            let customers: [CustomerID] = ["u99", "u98"]
            let tokens = try customers.map { customer in
                let answer = try scratch.ledger.questions
                    .accessAnswer("export", Self.question(customer)).json
                return try #require(DecisionToken(answer["token"]?.string ?? ""))
            }
            #expect(tokens.map(\.customer?.sequence) == [300, 297], "the control")
            try Self.withoutRecord(at: 300, of: scratch) { open in
                let outcomes = try tokens.map { try open.ledger.questions.answer(to: $0) }
                #expect(outcomes.map { $0.refusal?.code } == [.otherLedger, nil])
            }
        }
    }

    // Z4: the hashes prove the place to whoever has the record.
    @Test func `proves its place, and hands out nothing else as the record`() async throws {
        try await `A salvage`.filled { scratch in
            let record = try scratch.record(at: 300)
            let text = try LedgerDirectory.manifest(at: scratch.path).publicKey
            let key = try VerifierKey(parsing: text)
            try Self.withoutRecord(at: 300, of: scratch) { open in
                let proof = try open.ledger.prover.proof(of: 300)
                #expect(proof.record == nil)
                let leaf = TreeHash.leaf(record.span)
                #expect(try proof.verified(leafHash: leaf, by: [key]).size > 300)
                #expect(try open.ledger.prover.proof(of: 301).record != nil, "the control")
            }
        }
    }

    // E2: the events of a signal share its evidence, which goes with the first of them.
    @Test func `tells that evidence is lost with the first event that was read from it`()
        async throws
    {
        try await ScratchLedger.with { scratch in
            let submissions = try ["s", "t"].map { id in
                let events = try (1...2).map { number in
                    try Sample.event(
                        id,
                        "signal.noted",
                        "store/app_store",
                        data: #"{"name":"test\#(number)"}"#
                    )
                }
                return Submission(
                    id: id,
                    source: Source.appStore,
                    environment: .production,
                    nature: .signal,
                    drafts: events.map(\.draft),
                    evidenceParts: [.bytes(Array("signal \(id)".utf8))]
                )
            }
            _ = try scratch.ledger.appender.record(submissions)
            // A bundle is full, so that its tile has the hash of what is lost.
            let lines = (0..<100).flatMap { Sample.ownedPurchase("u\($0)", "app_store/\($0)") }
            _ = try scratch.ledger.appender.record(Sample.submissions(lines))
            _ = try scratch.ledger.prover.checkpoint()
            try Self.withoutRecord(at: 0, of: scratch) { open in
                let (questions, auditor) = (open.ledger.questions, open.ledger.auditor)
                let rescued = scratch.path + "-rescued"
                #expect(try LedgerDirectory.knownLoss(at: rescued)?.attached == 1)
                let faults = try auditor.audit().faults
                #expect(faults.map(\.kind) == [.record, .evidence])
                #expect(faults.map(\.sequence) == [0, 1])
                #expect(try questions.evidence(of: 0) == nil)
                #expect(try questions.evidence(of: 1) == nil)
                #expect(try questions.evidence(of: 3) == Array("signal t".utf8), "the control")
                let replay = try auditor.replay(knownAt: .everything)
                    .evidence(environment: .production) { _, _, _ in .verified }
                #expect(replay.verified == 1)
            }
        }
    }
}
