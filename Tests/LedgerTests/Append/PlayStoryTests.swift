import Encodings
import EntitlementLedger
import Entitlements
import LedgerOperations
import ModelSupport
import StoreSimulator
import Stores
import Testing

/// Subscriptions of Google Play through the whole ledger: from pushes and answers to access.
struct `A subscription of Google Play` {
    // row 2.3, row 4.2; Stores, rule 3: renewed late, in grace, on hold, recovered, cancelled, expired
    @Test func `gives access as Google says, in whatever order it is told`() async throws {
        let story = try PlayStory.wholeLife()
        var order = Array(story.answers.indices)
        try await check(story, order)
        try await check(story, order.reversed())
        var random = SplitMix64(seed: 18)
        for _ in 0..<20 {
            order.shuffle(using: &random)
            try await check(story, order)
        }
    }

    private func check(_ story: PlayStory, _ order: [Int]) async throws {
        // The renewal was told two minutes late.
        let expected: [(Int64, String)] = [
            (0, "none"), (1, "active"), (30, "active"), (31, "grace"), (32, "active"),
            (60, "active"), (62, "grace"), (65, "billing_retry"), (69, "billing_retry"),
            (71, "active"), (99, "active"), (101, "expired"),
        ]
        let statuses = try await story.statuses(at: expected.map(\.0), order: order)
        #expect(statuses == expected.map(\.1), "\(order)")
        let access = try await story.access(at: expected.map(\.0), order: order)
        #expect(access == expected.map { ["active", "grace"].contains($0.1) }, "\(order)")
    }

    // Z12: what was told by nobody is filled in by what the API says later
    @Test(arguments: [[1], [0], [0, 1]])
    func `is whole again after an answer, where messages were lost`(_ lost: [Int]) async throws {
        var story = try PlayStory.wholeLife()
        // Nothing hinted at it: it was asked for on the fortieth day.
        story.answers = story.answers.prefix(2).enumerated()
            .compactMap { lost.contains($0.offset) ? nil : $0.element }
        story.answer(nil, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1..0", end: 61, on: 40)
        #expect(
            try await story.access(at: [0, 1, 30, 31, 35, 45, 62]) == [
                false, true, true, true, true, true, false,
            ]
        )
    }

    // traps 12 and 14
    @Test func `ends where another token takes its place, and is one purchase with it`()
        async throws
    {
        var story = try PlayStory(token: "old")
        story.answer(4, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1", end: 31, on: 1)
        let changes = #"{"linkedPurchaseToken":"old"}"#
        story.replace(by: "new", order: "GPA.2", end: 40, on: 10, changes)
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let access = try await story.access(at: [5, 9, 11, 39, 41], order: order)
            #expect(access == [true, true, true, true, false], "\(order)")
            let purchases = try await story.purchases(on: 20, order: order)
            #expect(purchases == ["play_store/old"], "\(order)")
        }
    }

    @Test func `pauses and resumes`() async throws {
        var story = try PlayStory()
        story.answer(4, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1", end: 31, on: 1)
        story.answer(
            10,
            "SUBSCRIPTION_STATE_PAUSED",
            order: "GPA.1",
            end: 31,
            on: 31,
            #"{"pausedStateContext":{"autoResumeTime":"2026-03-15T00:00:00Z"}}"#
        )
        story.answer(1, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1..0", end: 90, on: 60)
        #expect(
            try await story.statuses(at: [30, 32, 59, 61]) == [
                "active", "paused", "paused", "active",
            ]
        )
        #expect(try await story.access(at: [30, 32, 59, 61]) == [true, false, false, true])
    }

    @Test func `is taken back with the order that was voided, and no other`() async throws {
        var story = try PlayStory()
        story.answer(4, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1", end: 31, on: 1)
        story.answer(2, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1..0", end: 61, on: 31)
        story.void("GPA.1", on: 40)
        #expect(try await story.access(at: [20, 41]) == [true, true])
        story.void("GPA.1..0", on: 45)
        #expect(try await story.access(at: [20, 41, 46]) == [true, true, false])
        #expect(try await story.statuses(at: [46]) == ["refunded"])
    }

    @Test func `that is revoked stays revoked when it is told that it expired`() async throws {
        var story = try PlayStory()
        story.answer(4, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1", end: 31, on: 1)
        story.answer(12, "SUBSCRIPTION_STATE_EXPIRED", order: "GPA.1", end: 10, on: 10)
        story.answer(13, "SUBSCRIPTION_STATE_EXPIRED", order: "GPA.1", end: 10, on: 10)
        for order in [[0, 1, 2], [0, 2, 1], [2, 1, 0]] {
            let statuses = try await story.statuses(at: [9, 11], order: order)
            #expect(statuses == ["active", "revoked"], "\(order)")
        }
    }

    // trap 13
    @Test func `waits until it is paid`() async throws {
        var story = try PlayStory()
        story.isClaimed = true
        story.hint(4, on: 1)
        #expect(try await story.statuses(at: [2]) == ["pending"])
        #expect(try await story.access(at: [2]) == [false])
        story.answer(
            4,
            "SUBSCRIPTION_STATE_PENDING",
            order: nil,
            end: 31,
            on: 1,
            #"{"startTime":null}"#
        )
        #expect(try await story.statuses(at: [2]) == ["pending"])
        story.start = 3
        story.answer(4, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1", end: 33, on: 3)
        #expect(try await story.statuses(at: [2, 4]) == ["pending", "active"])
    }

    @Test func `that is given up before it is paid gives nothing`() async throws {
        var story = try PlayStory()
        story.isClaimed = true
        story.answer(
            4,
            "SUBSCRIPTION_STATE_PENDING",
            order: nil,
            end: 31,
            on: 1,
            #"{"startTime":null}"#
        )
        story.answer(
            20,
            "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED",
            order: nil,
            end: 31,
            on: 3,
            #"{"startTime":null}"#
        )
        #expect(try await story.statuses(at: [2, 4]) == ["pending", "none"])
    }

    @Test func `of several products is a purchase of each`() async throws {
        var story = try PlayStory()
        story.answer(
            4,
            "SUBSCRIPTION_STATE_ACTIVE",
            order: "GPA.1",
            end: 31,
            on: 1,
            """
            {"lineItems":[
              {"productId":"com.example.app.pro","expiryTime":"2026-02-01T00:00:00Z",
               "autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.1"},
              {"productId":"com.example.app.addon","expiryTime":"2026-02-01T00:00:00Z",
               "autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.1"}]}
            """
        )
        #expect(try await story.access(at: [20, 40]) == [true, false])
        #expect(
            try await story.purchases(on: 20) == [
                "play_store/simulated-token-1/com.example.app.addon",
                "play_store/simulated-token-1/com.example.app.pro",
            ]
        )
    }

    @Test func `told by RevenueCat too is one purchase`() async throws {
        var story = try PlayStory()
        story.answer(4, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1", end: 31, on: 1)
        let webhook = RevenueCatBody.text(
            id: "rc",
            user: "alice",
            expiration: Sample.day(31).milliseconds,
            original: "GPA.1",
            transaction: "GPA.1"
        )
        .replacing("APP_STORE", with: "PLAY_STORE")
        story.submissions.append(try RevenueCatBody.submission(of: Array(webhook.utf8)))
        for order in [[0, 1], [1, 0]] {
            #expect(
                try await story.purchases(on: 20, order: order) == ["play_store/simulated-token-1"]
            )
        }
    }
}

/// What is told of one subscription, day by day of 2026, and what comes of it.
struct PlayStory {
    static let store = Result { try SimulatedPlayStore() }

    let store: SimulatedPlayStore
    let configuration: PlayConfiguration
    var token: String
    /// The day on which it began.
    var start: Int64 = 1
    /// Answers of the API, and pushes.
    var answers: [JSONValue] = []
    /// Whether its customer has claimed it: what is not paid yet names no account.
    var isClaimed = false
    /// What others told.
    var submissions: [Submission] = []

    init(token: String = "simulated-token-1") throws {
        store = try Self.store.get()
        configuration = PlayConfiguration(packageNames: [Name(store.packageName)])
        self.token = token
    }

    static func wholeLife() throws -> PlayStory {
        var story = try PlayStory()
        story.answer(4, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1", end: 31, on: 1)
        story.answer(2, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1..0", end: 61, on: 31)
        story.answer(6, "SUBSCRIPTION_STATE_IN_GRACE_PERIOD", order: "GPA.1..0", end: 64, on: 61)
        story.answer(5, "SUBSCRIPTION_STATE_ON_HOLD", order: "GPA.1..0", end: 64, on: 64)
        story.answer(1, "SUBSCRIPTION_STATE_ACTIVE", order: "GPA.1..1", end: 100, on: 70)
        story.answer(
            3,
            "SUBSCRIPTION_STATE_CANCELED",
            order: "GPA.1..1",
            end: 100,
            on: 80,
            #"{"canceledStateContext":{"userInitiatedCancellation":{"cancelTime":"2026-03-21T00:00:00Z"}}}"#
        )
        story.answer(13, "SUBSCRIPTION_STATE_EXPIRED", order: "GPA.1..1", end: 100, on: 100)
        return story
    }

    /// Google tells two minutes late, and is asked a second later.
    private static let delay: Int64 = 120_000

    private func told(on day: Int64) -> Instant {
        // A purchase is told when it is made.
        Sample.day(day).advanced(byMilliseconds: day == start ? 0 : Self.delay)
    }

    /// Another token takes the place of this one, whose first order ends; `changes`: to what is said of
    /// the other one.
    mutating func replace(
        by next: String,
        order: String,
        end: Int64,
        on day: Int64,
        _ changes: String
    ) {
        let (old, begun) = (token, start)
        (token, start) = (next, day)
        answer(4, "SUBSCRIPTION_STATE_ACTIVE", order: order, end: end, on: day, changes)
        (token, start) = (old, begun)
        // A few seconds later: it ends the old token only.
        answer(
            13,
            "SUBSCRIPTION_STATE_EXPIRED",
            order: "GPA.1",
            end: day,
            on: day,
            #"{"canceledStateContext":{"replacementCancellation":{}}}"#
        )
    }

    /// A push, and what the API said then; `type`: nil: nothing hinted at it.
    mutating func answer(
        _ type: Int?,
        _ state: String,
        order: String?,
        end: Int64,
        on day: Int64,
        _ changes: String = "{}"
    ) {
        let at = told(on: day)
        let push = type.map {
            store.push(subscription: $0, token: token, id: "m\(answers.count)", at: at)
        }
        let changes = (try? Sample.json(changes))?.members ?? []
        let members = [
            JSONMember("subscriptionState", .string(state)),
            JSONMember(
                "externalAccountIdentifiers",
                .members(["obfuscatedExternalAccountId": "alice"])
            ),
        ]
        let subscription = store.subscription(
            order: order ?? "",
            start: Sample.day(start),
            end: Sample.day(end),
            .object(members + changes)
        )
        answers.append(
            store.answer(
                subscription,
                of: token,
                at: at.advanced(byMilliseconds: 1000),
                after: push
            )
        )
    }

    /// A push by itself.
    mutating func hint(_ type: Int, on day: Int64) {
        answers.append(
            store.push(subscription: type, token: token, id: "m\(answers.count)", at: told(on: day))
        )
    }

    mutating func void(_ order: String, on day: Int64) {
        answers.append(
            store.push(
                .members([
                    "voidedPurchaseNotification": .members([
                        "purchaseToken": .string(token), "orderId": .string(order),
                        "productType": .integer(1), "refundType": .integer(1),
                    ])
                ]),
                id: "m\(answers.count)",
                at: told(on: day)
            )
        )
    }

    func statuses(at days: [Int64], order: [Int]? = nil) async throws -> [String] {
        try await ask(at: days, order) {
            $0["purchases"]?.array?.first?["status"]?.string ?? "none"
        }
    }

    func access(at days: [Int64], order: [Int]? = nil) async throws -> [Bool] {
        try await ask(at: days, order) { $0["features"]?["pro"]?["allowed"]?.bool ?? false }
    }

    func purchases(on day: Int64, order: [Int]? = nil) async throws -> [String] {
        try await ask(at: [day], order) { answer in
            (answer["purchases"]?.array ?? []).compactMap { $0["purchase"]?.string }.sorted()
        }[0]
    }

    /// Records everything in an order, and asks for the customer's state a minute after each day began.
    private func ask<Part>(
        at days: [Int64],
        _ order: [Int]?,
        _ part: (JSONValue) -> Part
    ) async throws -> [Part] {
        let now = Sample.day(300)
        let told =
            try answers.flatMap {
                try PlayImport.outcomes(of: $0, configuration: configuration, now: now)
                    .map { try $0.get() }
            } + submissions
        return try await ScratchLedger.with(clock: TestClock(now)) { scratch in
            let request = Request(id: "c", source: Source.catalog, environment: .production)
            _ = try scratch.ledger.appender.publish(Self.catalog(), effective: nil, request)
            for place in order ?? Array(told.indices) {
                guard case .appended = try scratch.ledger.appender.record(told[place]) else {
                    Issue.record("not appended: \(told[place])")
                    continue
                }
                guard case .duplicate = try scratch.ledger.appender.record(told[place]) else {
                    Issue.record("appended twice: \(told[place])")
                    continue
                }
            }
            if isClaimed {
                let request = Request(id: "claim", source: Source.app, environment: .production)
                let purchase = PurchaseName(store: Source.playStore, originalID: token)
                _ = try scratch.ledger.appender.claim(purchase, for: "alice", request)
            }
            return try days.map { day in
                let at = Sample.day(day).advanced(byMilliseconds: 60_000)
                return part(try scratch.show("alice", at: at))
            }
        }
    }

    private static func catalog() throws -> JSONValue {
        try Sample.json(
            """
            {"tiers":["free","pro"],"features":[{"id":"pro"}],
             "products":[{"id":"com.example.app.pro","kind":"auto_renewable",
                          "unlocks":{"tier":"pro"}},
                         {"id":"pro.month","kind":"auto_renewable","unlocks":{"tier":"pro"}},
                         {"id":"com.example.app.addon","kind":"auto_renewable","unlocks":{}}]}
            """
        )
    }
}
