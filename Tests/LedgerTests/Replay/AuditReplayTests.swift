import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import ModelSupport
import Testing

/// What the ledger would have answered then, from the log alone.
struct `An auditor's replay` {
    private static func filled(_ body: (ScratchLedger) async throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                try Sample.catalog(),
                effective: Sample.newYear,
                Request(id: "c", source: Source.catalog, environment: .production)
            )
            for index in 0..<20 {
                _ = try scratch.ledger.appender.record(
                    Sample.submissions(Sample.ownedPurchase("u\(index)", "app_store/\(index)"))
                )
                scratch.clock.now = scratch.clock.now.advanced(byMilliseconds: 1000)
            }
            _ = try scratch.ledger.appender.record(
                RevenueCatBody.submission(id: "s", user: "r", expiration: 1_799_904_000_000)
            )
            try await body(scratch)
        }
    }

    private static func tokens(_ answers: [JSONValue]) -> () -> (DecisionToken?, CustomerID?)? {
        var left = answers[...]
        return {
            left.popFirst().map {
                (
                    $0["token"]?.string.flatMap { DecisionToken($0) },
                    $0["customer"]?.string.flatMap { CustomerID($0) }
                )
            }
        }
    }

    private static func question(_ customer: CustomerID, _ size: UInt64) -> CustomerQuestion {
        CustomerQuestion(
            customer: customer,
            environment: .production,
            point: BitemporalPoint(at: Sample.day(10), knownAt: .sequence(size))
        )
    }

    // T4, row Z1, row Z11
    @Test func `gives the same answers and tokens as then, at every R`() async throws {
        try await Self.filled { scratch in
            let size = try scratch.ledger.questions.size()
            for prefix in [0, 1, 4, 31, size] {
                let replay = try scratch.ledger.auditor.replay(knownAt: .sequence(prefix))
                let report = try replay.answers(at: Sample.day(10), environment: .production)
                #expect(report.differences == [] && report.events == prefix)
                let answers = try (0..<20).map {
                    try scratch.ledger.questions.show(Self.question("u\($0)", prefix)).json
                }
                let tokens = try replay.tokens(Self.tokens(answers))
                #expect(tokens.isOK && tokens.counts == [.same: 20])
            }
        }
    }

    @Test func `takes nothing from views`() async throws {
        try await Self.filled { scratch in
            let before = try scratch.ledger.auditor.replay(knownAt: .everything)
                .answers(at: Sample.day(10), environment: .production)
            // What is altered on the disk is not looked at.
            try scratch.reopen()
            let replay = try scratch.ledger.auditor.replay(knownAt: .everything)
            for file in try ViewFiles(below: scratch.viewsPath).files
            where file.name.hasPrefix("streams") {
                try file.change { bytes in for index in bytes.indices { bytes[index] = 0 } }
            }
            let question = Self.question("u3", replay.size)
            let tokens = try replay.tokens(
                Self.tokens([try scratch.ledger.questions.show(question).json])
            )
            let report = try replay.answers(at: Sample.day(10), environment: .production)
            #expect(tokens.counts == [.same: 1])
            #expect(report.answersDigest == before.answersDigest)
            #expect(before.customers == 21)
        }
    }

    // The negative control: what differs is found.
    @Test func `finds a token that says otherwise, and of another ledger`() async throws {
        try await Self.filled { scratch in
            let size = try scratch.ledger.questions.size()
            let answer = try scratch.ledger.questions.show(Self.question("u1", size)).json
            let text = try #require(answer["token"]?.string)
            var bytes = try #require(Base64.decode(text, .url))
            bytes[bytes.count - 1] ^= 1
            let planted = Base64.encode(bytes.span, .url)
            let unknown = try scratch.ledger.questions.show(Self.question("nobody", size)).json
            let replay = try scratch.ledger.auditor.replay(knownAt: .everything)
            let rows: [(token: String, customer: CustomerID?, TokenReplay.Outcome)] = [
                (text, nil, .same), (planted, nil, .differs), ("AAAA", nil, .malformed),
                (text, "u2", .otherCustomer),
                (unknown["token"]?.string ?? "", nil, .customerMissing),
                (unknown["token"]?.string ?? "", "nobody", .same),
            ]
            for (token, customer, expected) in rows {
                var given: (DecisionToken?, CustomerID?)? = (DecisionToken(token), customer)
                let outcome = try replay.tokens {
                    defer { given = nil }
                    return given
                }
                #expect(outcome.counts == [expected: 1])
                #expect(outcome.isOK == !expected.isFault)
            }
            // A longer log's token, asked of a shorter one.
            try await ScratchLedger.with { other in
                _ = try other.ledger.appender.record(
                    Sample.submissions(Sample.ownedPurchase("u1", "app_store/1"))
                )
                let replay = try other.ledger.auditor.replay(knownAt: .everything)
                #expect(try replay.tokens(Self.tokens([answer])).counts == [.otherLedger: 1])
            }
        }
    }

    @Test func `judges evidence again, as of when it was recorded`() async throws {
        try await Self.filled { scratch in
            let replay = try scratch.ledger.auditor.replay(knownAt: .everything)
            var asked: [(source: String, recordedAt: Instant, bytes: Int)] = []
            let report = try replay.evidence(environment: .production) {
                evidence,
                event,
                recordedAt in
                asked.append((event.source, recordedAt, evidence.count))
                return .unsigned
            }
            #expect(report.unsigned == 1 && asked.count == 1)
            #expect(asked[0].source == "revenuecat" && asked[0].bytes > 100)
            #expect(asked[0].recordedAt == scratch.clock.now)
            let refused = try replay.evidence(environment: .production) { _, _, _ in
                .refused(code: "bad_signature")
            }
            #expect(refused.refused == 1 && refused.refusals.first?.code == "bad_signature")
            let none = try scratch.ledger.auditor.replay(knownAt: .sequence(10))
                .evidence(environment: .production) { _, _, _ in .verified }
            #expect(none.verified == 0)
        }
    }

    // E1: a signal's evidence is judged by its first event, whichever of them the customer is shown
    @Test func `judges what one message told of two customers`() async throws {
        try await ScratchLedger.with { scratch in
            let drafts = try ["ann", "bob"].map { customer in
                try Sample.event(
                    "s",
                    "purchase.completed",
                    "purchase/play_store/\(customer)",
                    data: """
                        {"transactionId":"1","productId":"pro.month",
                         "productKind":"auto_renewable","account":"\(customer)"}
                        """
                ).draft
            }
            let signal = Submission(
                id: "s",
                source: Source.playStore,
                environment: .production,
                nature: .signal,
                drafts: drafts,
                evidenceParts: [.bytes(Array("what was told".utf8))]
            )
            _ = try scratch.ledger.appender.record(signal)
            let replay = try scratch.ledger.auditor.replay(knownAt: .everything)
            for customer: CustomerID in ["ann", "bob"] {
                let report = try replay.evidence(of: customer, environment: .production) {
                    _,
                    event,
                    _ in
                    event.id == "s" ? .verified : .refused(code: "other_signal")
                }
                #expect(report.verified == 1 && report.refused == 0, "\(customer)")
            }
        }
    }
}
