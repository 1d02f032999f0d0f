import Encodings
import EntitlementLedger
import Entitlements
import LedgerOperations
import ModelSupport
import Stores
import Testing

/// Subscriptions that RevenueCat tells through the whole ledger: from webhooks, of which some are lost,
/// and an answer of its API to access.
struct `A subscription that RevenueCat tells` {
    // trap 24; Z12: what was told by nobody is filled in by what the API says later
    @Test(arguments: RevenueCatStory.answers)
    func `gives the same access after an answer, whatever was lost`(
        _ answer: RevenueCatStory.Answer
    ) async throws {
        let story = try RevenueCatStory(answer)
        let whole = try await story.access(lost: [], after: [])
        #expect(whole == answer.expected)
        var random = SplitMix64(seed: 24)
        let all = Array(story.webhooks.indices)
        for count in 0...all.count {
            for _ in 0..<2 {
                let lost = Set(all.shuffled(using: &random).prefix(count))
                var order = Array(0...(all.count - count))
                order.shuffle(using: &random)
                let access = try await story.access(lost: lost, after: [answer.day], order)
                #expect(access == whole, "without \(lost.sorted()), \(order)")
            }
        }
    }

    // trap 24: an answer hides the past, which stays as it was told
    @Test(arguments: RevenueCatStory.answers)
    func `is not changed by answers where nothing was lost`(
        _ answer: RevenueCatStory.Answer
    ) async throws {
        let story = try RevenueCatStory(answer)
        let whole = try await story.access(lost: [], after: [])
        let days: [Int64] = [5, 33, 45, 62, 69, 200]
        #expect(try await story.access(lost: [], after: days) == whole)
        #expect(try await story.access(lost: [], after: days, isReversed: true) == whole)
        // The control: without any webhook an early answer does not know what comes later.
        let all = Set(story.webhooks.indices)
        #expect(try await story.access(lost: all, after: [5]) != whole)
    }

    @Test func `is taken back where the refund was not told`() async throws {
        var play = try PlayStory()
        play.submissions = try [
            RevenueCatStory.webhook("INITIAL_PURCHASE", "GPA.1", 1, 31, on: 1),
            RevenueCatStory.webhook("RENEWAL", "GPA.1..0", 31, 61, on: 31),
        ]
        #expect(try await play.statuses(at: [35, 45]) == ["active", "active"])
        play.submissions += try RevenueCatStory.subscriber(
            [(1, "GPA.1..0", 31, 61)],
            on: 50,
            #"{"refunded_at":"2026-02-10T00:00:00Z"}"#
        )
        for order in [[0, 1, 2], [2, 1, 0]] {
            let statuses = try await play.statuses(at: [35, 45], order: order)
            #expect(statuses == ["active", "refunded"])
        }
    }

    /// A way to say that access goes on behind the end, or is paused, which says the same on each day.
    struct Standing: Sendable, CustomTestStringConvertible {
        var status: String
        /// When RevenueCat is asked.
        var days: [Int64]
        /// Of the days 25, 33 and 36.
        var expected: [String]

        var testDescription: String { status }
    }

    // E1, T2: answers whose words are the same say another thing where the period has ended since, or later
    @Test(arguments: [
        Standing(
            status: "in_grace_period",
            days: [32, 35],
            expected: ["active", "grace", "expired"]
        ),
        Standing(status: "active", days: [20, 32, 35], expected: ["active", "grace", "expired"]),
        Standing(status: "pause", days: [20, 32], expected: ["active", "paused", "paused"]),
    ])
    func `stands as it was seen, in whatever order`(_ standing: Standing) async throws {
        var play = try PlayStory()
        play.submissions = try standing.days.flatMap { day in
            standing.status == "pause"
                ? try RevenueCatStory.subscriber(
                    [(1, "GPA.1", 1, 31)],
                    on: day,
                    #"{"auto_resume_date":"\#(Sample.day(60))"}"#
                )
                : try RevenueCatStory.list([("t1", 1, 31)], on: day, status: standing.status)
        }
        #expect(play.submissions.count == standing.days.count)
        for order in [Array(play.submissions.indices), play.submissions.indices.reversed()] {
            let statuses = try await play.statuses(at: [25, 33, 36], order: order)
            #expect(statuses == standing.expected, "\(order)")
        }
    }

    // Stores, rule 7: the end that is stated is the transaction's first one
    @Test func `keeps the extension that it had until its refund`() async throws {
        var play = try PlayStory()
        play.submissions = try [
            RevenueCatStory.webhook("INITIAL_PURCHASE", "t1", 1, 31, on: 1),
            RevenueCatStory.webhook("SUBSCRIPTION_EXTENDED", "t1", 1, 45, on: 20),
            RevenueCatStory.webhook("EXPIRATION", "t1", 1, 31, on: 40, because: "CUSTOMER_SUPPORT"),
        ]
        for order in [[0, 1, 2], [2, 1, 0]] {
            let statuses = try await play.statuses(at: [25, 35, 41], order: order)
            #expect(statuses == ["active", "active", "refunded"], "\(order)")
        }
    }

    // P4, P9; Stores, rule 7: behind its grace it gives nothing, and what grace gave stays
    @Test(arguments: [nil, 64] as [Int64?])
    func `keeps its grace while payment is still tried again`(_ graceUntil: Int64?) async throws {
        var play = try PlayStory()
        play.submissions = try [
            RevenueCatStory.webhook("INITIAL_PURCHASE", "t1", 1, 31, on: 1),
            RevenueCatStory.webhook("RENEWAL", "t2", 31, 61, on: 31),
            RevenueCatStory.webhook("BILLING_ISSUE", "t2", 31, 61, on: 61, grace: 64),
        ]
        play.submissions += try RevenueCatStory.list(
            [("t1", 1, 31), ("t2", 31, 61)],
            on: 70,
            status: "in_billing_retry",
            graceUntil: graceUntil
        )
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [3, 0, 1, 2]] {
            let statuses = try await play.statuses(at: [60, 62, 65, 71], order: order)
            let retry = Array(repeating: "billing_retry", count: 2)
            #expect(statuses == ["active", "grace"] + retry, "\(order)")
            let access = try await play.access(at: [60, 62, 65, 71], order: order)
            #expect(access == [true, true, false, false], "\(order)")
        }
    }

    // P4: what is filled in before a renewal is no grace where payment was seen to be tried again
    @Test func `gives nothing between an end that was not paid and its renewal`() async throws {
        var play = try PlayStory()
        let periods: [(began: Int64, id: String, start: Int64, end: Int64)] = [
            (1, "GPA.1", 1, 31), (1, "GPA.1..0", 45, 75),
        ]
        let failed = #"{"billing_issues_detected_at":"\#(Sample.day(29))"}"#
        play.submissions = try RevenueCatStory.subscriber(periods, on: 30, failed)
        play.submissions += try RevenueCatStory.subscriber(periods, on: 50)
        for order in [[0, 1], [1, 0]] {
            let statuses = try await play.statuses(at: [20, 33, 46], order: order)
            #expect(statuses == ["active", "billing_retry", "active"], "\(order)")
        }
        // The control: where nobody saw that, access is taken to have gone on.
        #expect(try await play.statuses(at: [33], order: [1]) == ["active"])
    }

    // P1: told by webhooks and by an answer, it is one purchase, also where the webhooks come last
    @Test func `is one purchase in both`() async throws {
        for answer in RevenueCatStory.answers {
            let story = try RevenueCatStory(answer)
            var play = try PlayStory()
            play.submissions = try story.webhooks + answer.told(70)
            let expected = answer.isOfAppStore ? "app_store/t1" : "play_store/GPA.1"
            for order in [Array(play.submissions.indices), play.submissions.indices.reversed()] {
                #expect(try await play.purchases(on: 45, order: order) == [expected])
            }
        }
    }
}

/// What RevenueCat tells of one subscription, day by day of 2026.
struct RevenueCatStory {
    let answer: Answer
    let webhooks: [Submission]

    /// How RevenueCat is asked, and on which day after all.
    struct Answer: Sendable, CustomTestStringConvertible {
        var day: Int64
        var isOfAppStore: Bool
        var expected: [Bool]

        var testDescription: String { isOfAppStore ? "version 2" : "version 1" }
    }

    /// On Google Play by version 1: renewed, in grace, renewed, cancelled.
    ///
    /// On the App Store by version 2: lapsed, and bought again.
    static let answers = [
        Answer(
            day: 95,
            isOfAppStore: false,
            expected: [false] + repeatElement(true, count: 7) + [false]
        ),
        Answer(
            day: 95,
            isOfAppStore: true,
            expected: [false, true, true, false, true, true, true, false, false]
        ),
    ]
    private static let days: [Int64] = [0, 1, 30, 35, 45, 62, 66, 80, 92]

    init(_ answer: Answer) throws {
        self.answer = answer
        webhooks =
            answer.isOfAppStore
            ? try [
                Self.webhook("INITIAL_PURCHASE", "t1", 1, 31, on: 1),
                Self.webhook("EXPIRATION", "t1", 1, 31, on: 31),
                Self.webhook("RENEWAL", "t2", 41, 71, on: 41),
                Self.webhook("CANCELLATION", "t2", 41, 71, on: 50),
                Self.webhook("EXPIRATION", "t2", 41, 71, on: 71),
            ]
            : try [
                Self.webhook("INITIAL_PURCHASE", "GPA.1", 1, 31, on: 1),
                Self.webhook("RENEWAL", "GPA.1..0", 31, 61, on: 31),
                Self.webhook("BILLING_ISSUE", "GPA.1..0", 31, 61, on: 61, grace: 64),
                Self.webhook("RENEWAL", "GPA.1..1", 63, 91, on: 63),
                Self.webhook("CANCELLATION", "GPA.1..1", 63, 91, on: 80),
                Self.webhook("EXPIRATION", "GPA.1..1", 63, 91, on: 91),
            ]
    }

    /// Whether there was access on the days that are looked at.
    ///
    /// `days`: those on which RevenueCat is asked.
    func access(
        lost: Set<Int>,
        after days: [Int64],
        _ order: [Int]? = nil,
        isReversed: Bool = false
    ) async throws -> [Bool] {
        var play = try PlayStory()
        play.submissions = webhooks.enumerated().filter { !lost.contains($0.offset) }.map(\.element)
        for day in days {
            // The same answer again is a repeat.
            let known = Set(play.submissions.map(\.id))
            play.submissions += try answer.told(day).filter { !known.contains($0.id) }
        }
        if isReversed { play.submissions.reverse() }
        return try await play.access(at: Self.days, order: order)
    }

    /// A webhook, told a second after what it tells.
    static func webhook(
        _ type: String,
        _ transaction: String,
        _ start: Int64,
        _ end: Int64,
        on day: Int64,
        grace: Int64? = nil,
        because reason: String = "UNSUBSCRIBE"
    ) throws -> Submission {
        let isPlay = transaction.hasPrefix("GPA")
        let body = """
            {"event":{"id":"\(type)-\(transaction)","type":"\(type)","app_user_id":"alice",
            "event_timestamp_ms":\(Sample.day(day).milliseconds + 1000),"product_id":"pro.month",
            "period_type":"NORMAL","purchased_at_ms":\(Sample.day(start).milliseconds),
            "expiration_at_ms":\(Sample.day(end).milliseconds),
            "grace_period_expiration_at_ms":\(grace.map { "\(Sample.day($0).milliseconds)" } ?? "null"),
            "cancel_reason":"\(reason)","expiration_reason":"\(reason)",
            "store":"\(isPlay ? "PLAY_STORE" : "APP_STORE")",
            "environment":"PRODUCTION","transaction_id":"\(transaction)",
            "original_transaction_id":"\(isPlay ? "GPA.1" : "t1")"}}
            """
        return try RevenueCatBody.submission(of: Array(body.utf8))
    }

    /// What version 1 says: the last of the periods that began.
    ///
    /// `periods`: the day of the first one's start, the transaction, the days of its start and end.
    static func subscriber(
        _ periods: [(began: Int64, id: String, start: Int64, end: Int64)],
        on day: Int64,
        _ changes: String = "{}"
    ) throws -> [Submission] {
        guard let period = periods.last(where: { $0.start <= day }) else { return [] }
        let members =
            try Sample.json(
                """
                {"original_purchase_date":"\(Sample.day(period.began))","period_type":"normal",
                 "purchase_date":"\(Sample.day(period.start))",
                 "expires_date":"\(Sample.day(period.end))","store":"play_store",
                 "store_transaction_id":"\(period.id)","is_sandbox":false}
                """
            ).members ?? []
        let subscription = JSONValue.object(members + (try Sample.json(changes).members ?? []))
        return try submissions(
            .members([
                "subscriber": .members(["subscriptions": .members(["pro.month": subscription])])
            ]),
            on: day
        )
    }

    /// What version 2 says of a subscription of the App Store, by its status, with its transactions.
    ///
    /// `periods`: the transaction, the days of its start and end. `graceUntil`: the day on which the last
    /// one's grace ends; nil: none is told.
    static func list(
        _ periods: [(id: String, start: Int64, end: Int64)],
        on day: Int64,
        status: String,
        renews: Bool = true,
        graceUntil: Int64? = nil
    ) throws -> [Submission] {
        guard let period = periods.last else { return [] }
        let items = periods.map { told in
            JSONValue.members([
                "id": .string(told.id),
                "purchased_at": .integer(Sample.day(told.start).milliseconds),
                "expiration_date": .integer(Sample.day(told.end).milliseconds),
                "effective_expiration_date": .integer(
                    Sample.day((told.id == period.id ? graceUntil : nil) ?? told.end).milliseconds
                ),
                "product_store_identifier": "pro.month",
            ])
        }
        let subscription = JSONValue.members([
            "object": "subscription", "id": "sub1", "store": "app_store",
            "environment": "production", "store_subscription_identifier": .string(period.id),
            "starts_at": .integer(Sample.day(1).milliseconds),
            "current_period_starts_at": .integer(Sample.day(period.start).milliseconds),
            "current_period_ends_at": .integer(Sample.day(period.end).milliseconds),
            "status": .string(status), "gives_access": .bool(status != "expired"),
            "auto_renewal_status": renews ? "will_renew" : "will_not_renew",
        ])
        return try submissions(
            .members(["object": "list", "items": .array([subscription])]),
            on: day,
            transactions: .members(["items": .array(items)])
        )
    }

    /// What an answer comes to that was given on a day, with what was told beside it.
    static func submissions(
        _ answer: JSONValue,
        on day: Int64,
        transactions: JSONValue = .null
    ) throws -> [Submission] {
        let asked = JSONValue.members([
            "appUserId": "alice", "observedAt": .string(Sample.day(day).description),
            "transactions": .members(["sub1": .array([transactions])]), "answer": answer,
        ])
        return try RevenueCatImport.outcomes(of: asked, now: Sample.day(300)).map { try $0.get() }
    }
}

extension RevenueCatStory.Answer {
    /// What RevenueCat says on a day.
    func told(_ day: Int64) throws -> [Submission] {
        isOfAppStore ? try list(day) : try subscriber(day)
    }

    private func subscriber(_ day: Int64) throws -> [Submission] {
        let isInGrace = (61..<63).contains(day)
        return try RevenueCatStory.subscriber(
            [(1, "GPA.1", 1, 31), (1, "GPA.1..0", 31, 61), (1, "GPA.1..1", 63, 91)],
            on: day,
            isInGrace
                ? #"{"billing_issues_detected_at":"2026-03-03T00:00:00Z","#
                    + #""grace_period_expires_date":"\#(Sample.day(64))"}"#
                : day >= 80 ? #"{"unsubscribe_detected_at":"\#(Sample.day(80))"}"# : "{}"
        )
    }

    private func list(_ day: Int64) throws -> [Submission] {
        let periods: [(id: String, start: Int64, end: Int64)] = [("t1", 1, 31), ("t2", 41, 71)]
        let told = periods.filter { $0.start <= day }
        guard let period = told.last else { return [] }
        return try RevenueCatStory.list(
            told,
            on: day,
            status: period.end <= day ? "expired" : "active",
            renews: day < 50
        )
    }
}
