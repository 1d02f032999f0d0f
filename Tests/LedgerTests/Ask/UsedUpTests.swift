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

    /// A catalog whose one feature, `scan`, has so many uses a day.
    private static func publish(level: String, count: Int, in ledger: Ledger) throws {
        _ = try ledger.appender.publish(
            Sample.json(
                """
                {"tiers":["free","pro"],"products":[],"features":[{"id":"scan","level":"\(level)",
                 "limits":{"free":{"perPeriod":{"count":\(count),"period":"day","timeZone":"UTC"}}}}]}
                """
            ),
            effective: Sample.newYear,
            request("catalog")
        )
    }

    private static func use(in ledger: Ledger) throws -> UseOutcome {
        try ledger.appender.use("scan", by: "ann", amount: nil, unit: nil, request("u"))
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

    // RFC 3339 writes no instant behind the year 9999, nor is any question about one.
    @Test func `in the last window that can be told has no reset`() async throws {
        try await Self.with { scratch, _ in
            let last = try #require(Instant(rfc3339: "9999-12-31T00:00:00Z"))
            let rows: [(Instant, Instant?)] = [
                (last.advanced(byMilliseconds: -1), last), (last, nil),
            ]
            for (at, next) in rows {
                let shown = try scratch.ledger.questions.show(Self.question(at: at)).json
                #expect(shown["validUntil"] == .instant(next), "\(at)")
                let limit = shown["features"]?["scan"]?["limit"]
                #expect(limit?["resetsAt"] == .instant(next) && limit?["remaining"]?.integer == 2)
            }
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
            // The control of the next: access goes on behind the reset.
            #expect(answer.wouldChange.first?.kind == .limitReset)
            #expect(answer.wouldChange.first?.isEnough == true)
        }
    }

    // C5: uses that count anew open nothing that is closed, nor what closes before they do.
    @Test(arguments: [(30, true), (90, false)])
    func `is explained as such only while it is open`(
        _ minutes: Int64,
        _ isOpen: Bool
    ) async throws {
        try await ScratchLedger.with { scratch in
            let (ledger, now) = (scratch.ledger, scratch.clock.now)
            try Self.publish(level: "pro", count: 1, in: ledger)
            _ = try ledger.appender.grant(
                "g",
                to: "ann",
                features: ["scan"],
                tier: nil,
                expiresAt: now.advanced(byMilliseconds: 3_600_000),
                reason: nil,
                Self.request("g")
            )
            let used = try Self.use(in: ledger)
            guard case .appended = used.receipt else { throw Unexpected(used) }
            let at = now.advanced(byMilliseconds: minutes * 60_000)
            let outcome = try ledger.questions.explain("scan", Self.question(at: at))
            guard case .explained(let answer) = outcome else {
                Issue.record("the catalog lists the feature")
                return
            }
            #expect(answer.access.isAllowed == isOpen)
            #expect(answer.access.limit?.remaining == 0)
            #expect(answer.steps.contains { $0.effect.kind == .usedUp } == isOpen)
            let resets = answer.wouldChange.filter { $0.kind == .limitReset }
            #expect(resets.map(\.isEnough) == (isOpen ? [false] : []))
        }
    }

    // C5: a window of no uses begins again with none.
    @Test func `is not promised anew where nothing is to be used`() async throws {
        try await ScratchLedger.with { scratch in
            let (ledger, now) = (scratch.ledger, scratch.clock.now)
            try Self.publish(level: "free", count: 0, in: ledger)
            let used = try Self.use(in: ledger)
            guard case .refused(let refusal) = used.receipt else { throw Unexpected(used) }
            #expect(refusal.code == .overLimit && refusal.resetsAt == nil)
            let outcome = try ledger.questions.explain("scan", Self.question(at: now))
            guard case .explained(let answer) = outcome else {
                Issue.record("the catalog lists the feature")
                return
            }
            #expect(answer.access.refusal == .usedUp)
            #expect(!answer.wouldChange.contains { $0.kind == .limitReset })
        }
    }

    @Test func `is near a mistyped name once, however many catalogs list it`() async throws {
        try await Self.with { scratch, now in
            _ = try scratch.ledger.appender.publish(
                Sample.catalog(count: 3),
                effective: nil,
                Self.request("again")
            )
            let outcome = try scratch.ledger.questions.explain("scam", Self.question(at: now))
            guard case .unknownFeature(let near) = outcome else {
                Issue.record("no catalog lists the feature")
                return
            }
            #expect(near == ["scan"])
        }
    }
}
