import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import ModelSupport
import Testing

/// C5: a feature that is allowed and of which nothing is left cannot be used.
struct `A feature that is used up` {
    private static func request(_ id: String) -> Request {
        Request(id: id, source: Source.app, environment: .production)
    }

    /// A ledger in which `ann` has used `scan` twice of twice a day.
    private static func with(_ body: (ScratchLedger, Instant) async throws -> Void) async throws {
        try await ScratchLedger.with { scratch in
            _ = try scratch.ledger.appender.publish(
                Sample.catalog(count: 2),
                effective: Sample.newYear,
                Request(id: "catalog", source: Source.catalog, environment: .production)
            )
            for use in 1...2 {
                let used = try scratch.ledger.appender.use(
                    "scan",
                    by: "ann",
                    amount: 1,
                    unit: nil,
                    Self.request("u\(use)")
                )
                guard case .appended = used.receipt else { throw Unexpected(used) }
            }
            try await body(scratch, scratch.clock.now)
        }
    }

    private struct Unexpected: Error {
        let outcome: UseOutcome
        init(_ outcome: UseOutcome) { self.outcome = outcome }
    }

    private static func question(at instant: Instant) -> CustomerQuestion {
        CustomerQuestion(
            customer: "ann",
            environment: .production,
            point: BitemporalPoint(at: instant, knownAt: .everything)
        )
    }

    // K5 goes on to say that it is allowed.
    @Test func `is said to be, with its reset, by every answer, until the window ends`()
        async throws
    {
        try await Self.with { scratch, now in
            let ledger = scratch.ledger
            let answer = try ledger.questions.accessAnswer("scan", Self.question(at: now))
            let resetsAt = try #require(answer.access.limit?.resetsAt)
            #expect(resetsAt > now)
            #expect(answer.access.isAllowed && !answer.access.isUsable)
            #expect(answer.access.refusal == .usedUp)
            #expect(answer["validUntil"] == .instant(resetsAt))
            #expect(answer["usable"] == .bool(false) && answer["refusal"] == "used_up")
            let shown = try ledger.questions.show(Self.question(at: now))["features"]?["scan"]
            #expect(shown?["usable"] == .bool(false) && shown?["refusal"] == "used_up")
            #expect(
                try !ledger.questions.can("ann", "scan", environment: .production, at: now),
                "the library's own check"
            )

            let later = try ledger.questions.accessAnswer("scan", Self.question(at: resetsAt))
            #expect(later.access.isUsable && later.access.refusal == nil)
            #expect(try ledger.questions.can("ann", "scan", environment: .production, at: resetsAt))
        }
    }

    @Test func `can be used again once a use is taken back`() async throws {
        try await Self.with { scratch, now in
            let ledger = scratch.ledger
            #expect(try !ledger.questions.can("ann", "scan", environment: .production, at: now))
            _ = try ledger.appender.reverseUse("u2", of: "ann", Self.request("back"))
            #expect(try ledger.questions.can("ann", "scan", environment: .production, at: now))
        }
    }

    @Test func `is refused with the instant from which there are uses again`() async throws {
        try await Self.with { scratch, now in
            let ledger = scratch.ledger
            let more = try ledger.appender.use(
                "scan",
                by: "ann",
                amount: 1,
                unit: nil,
                Self.request("u3")
            )
            guard case .refused(let refusal) = more.receipt else { throw Unexpected(more) }
            let answer = try ledger.questions.accessAnswer("scan", Self.question(at: now))
            #expect(refusal.code == .overLimit)
            #expect(refusal.resetsAt != nil && refusal.resetsAt == answer.access.limit?.resetsAt)
            // One use that is too large is no matter of time.
            let large = try ledger.appender.use(
                "scan",
                by: "bob",
                amount: 31,
                unit: nil,
                Self.request("l")
            )
            guard case .refused(let tooLarge) = large.receipt else { throw Unexpected(large) }
            #expect(tooLarge.code == .overLimit && tooLarge.resetsAt == nil)
        }
    }

    @Test(arguments: Audience.allCases)
    func `is explained as such`(_ audience: Audience) async throws {
        try await Self.with { scratch, now in
            let question = Self.question(at: now)
            let outcome = try scratch.ledger.questions.explain("scan", question, to: audience)
            guard case .explained(let answer) = outcome else {
                Issue.record("the catalog lists the feature")
                return
            }
            #expect(answer.summary.contains("used up"), "\(answer.summary)")
            #expect(answer.access.refusal == .usedUp)
        }
    }
}
