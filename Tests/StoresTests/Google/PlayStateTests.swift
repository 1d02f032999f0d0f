import Encodings
import Entitlements
import StoreSimulator
import Testing

@testable import Stores

/// One state of a subscription, after a notification or without one, and the events that it comes to.
struct PlayStateRow: Sendable, CustomTestStringConvertible {
    var state: String
    var type: Int?
    var order = "GPA.1"
    var changes = "{}"
    var item = "{}"
    let expected: [String]

    var testDescription: String { "\(state) \(type.map(String.init) ?? "asked") \(order)" }
}

struct `A subscription's answer` {
    private static func period(
        _ kind: String,
        _ order: String,
        _ times: String,
        _ rest: String = #","priceMicros":9990000,"currencyCode":"EUR""#
    ) -> [String] {
        let parts = times.split(separator: "-")
        return [
            #"purchase.\#(kind) t1@\#(parts[0]) {"transactionId":"\#(order)","#
                + #""productId":"com.example.app.pro","productKind":"auto_renewable","#
                + #""expiresAt":"\#(parts[1])"\#(rest),"ownership":"purchased","storefront":"DE"}"#,
            #"verification.passed t1@\#(parts[0]) {"transactionId":"\#(order)","method":"store_api"}"#,
        ]
    }

    private static let renews = #"purchase.renewal_changed t1@S {"autoRenew":true}"#
    private static let link = #"purchase.linked t1@S {"alias":"play_store/GPA.1"}"#
    private static let gap = #"purchase.grace_started t1@S {"graceUntil":"S"}"#
    /// What stands in for a first period that nobody told.
    private static let past = period("completed", "GPA.1", "P-S", "")
    /// The same, where the first period is the last one that was paid.
    private static let onlyPast = period("completed", "GPA.1", "P-S")

    static let rows: [PlayStateRow] = [
        PlayStateRow(
            state: "PENDING",
            type: 4,
            expected: [#"purchase.pending t1@S {"productId":"com.example.app.pro"}"#, link]
        ),
        PlayStateRow(
            state: "PENDING_PURCHASE_CANCELED",
            type: 20,
            expected: [#"purchase.abandoned t1@S {"productId":"com.example.app.pro"}"#, link]
        ),
        PlayStateRow(
            state: "ACTIVE",
            type: 4,
            expected: period("completed", "GPA.1", "P-E") + [renews, link]
        ),
        PlayStateRow(
            state: "ACTIVE",
            type: 4,
            changes:
                #"{"linkedPurchaseToken":"t0","acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"}"#,
            expected: period("completed", "GPA.1", "P-E") + [
                renews, #"purchase.linked purchase/play_store/t0@S {"alias":"play_store/t1"}"#,
                link,
                #"purchase.acknowledged t1@S {"transactionId":"GPA.1"}"#,
            ]
        ),
        PlayStateRow(
            state: "ACTIVE",
            type: 2,
            order: "GPA.1..4",
            expected: past + [gap] + period("renewed", "GPA.1..4", "S-E") + [renews, link]
        ),
        PlayStateRow(
            state: "ACTIVE",
            type: 1,
            order: "GPA.1..4",
            expected: period("renewed", "GPA.1..4", "S-E") + [renews, link]
        ),
        // A tester's renewals come while Google still waits to be told that it was given.
        PlayStateRow(
            state: "ACTIVE",
            type: 1,
            order: "GPA.1..4",
            changes:
                #"{"testPurchase":{},"acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"}"#,
            expected: period("renewed", "GPA.1..4", "S-E") + [
                renews, link, #"purchase.acknowledged t1@S {"transactionId":"GPA.1"}"#,
            ]
        ),
        // Extended, restarted, or its price agreed to: its start is not told.
        PlayStateRow(
            state: "ACTIVE",
            type: 9,
            order: "GPA.1..4",
            expected: past + [gap] + period("renewed", "GPA.1..4", "S-E") + [
                #"purchase.extended t1@S {"transactionId":"GPA.1..4","expiresAt":"E"}"#, renews,
                link,
            ]
        ),
        PlayStateRow(
            state: "ACTIVE",
            type: nil,
            order: "GPA.1..4",
            item: #"{"deferredItemReplacement":{"productId":"com.example.app.basic"}}"#,
            expected: past + [gap] + period("renewed", "GPA.1..4", "S-E") + [
                #"purchase.extended t1@S {"transactionId":"GPA.1..4","expiresAt":"E"}"#,
                #"purchase.renewal_changed t1@S {"autoRenew":true,"#
                    + #""nextProductId":"com.example.app.basic"}"#,
                link,
            ]
        ),
        // Without a price that is known to be this period's.
        PlayStateRow(
            state: "ACTIVE",
            type: 4,
            item: #"{"offerDetails":{"basePlanId":"monthly","offerId":"spring"}}"#,
            expected: period("completed", "GPA.1", "P-E", "") + [renews, link]
        ),
        PlayStateRow(
            state: "ACTIVE",
            type: 4,
            item: #"{"offerDetails":{"offerId":"spring"},"offerPhase":{"freeTrial":{}}}"#,
            expected: [
                #"purchase.completed t1@P {"transactionId":"GPA.1","#
                    + #""productId":"com.example.app.pro","productKind":"auto_renewable","#
                    + #""expiresAt":"E","priceMicros":0,"currencyCode":"EUR","#
                    + #""ownership":"purchased","offer":"trial","storefront":"DE"}"#,
                period("completed", "GPA.1", "P-E")[1], renews, link,
            ]
        ),
        // A prepaid plan does not renew.
        PlayStateRow(
            state: "ACTIVE",
            type: 4,
            item: #"{"autoRenewingPlan":null,"prepaidPlan":{}}"#,
            expected: [
                #"purchase.completed t1@P {"transactionId":"GPA.1","#
                    + #""productId":"com.example.app.pro","productKind":"non_renewing","#
                    + #""expiresAt":"E","ownership":"purchased","storefront":"DE"}"#,
                period("completed", "GPA.1", "P-E")[1], link,
            ]
        ),
        PlayStateRow(
            state: "CANCELED",
            type: 3,
            changes:
                #"{"canceledStateContext":{"userInitiatedCancellation":{"cancelTime":"2026-01-01T00:00:00Z"}}}"#,
            item: #"{"autoRenewingPlan":{}}"#,
            expected: period("completed", "GPA.1", "P-E", "") + [
                #"purchase.renewal_changed t1@P {"reason":"user","autoRenew":false}"#, link,
            ]
        ),
        PlayStateRow(
            state: "IN_GRACE_PERIOD",
            type: 6,
            order: "GPA.1",
            expected: onlyPast + [
                #"purchase.grace_started t1@S {"graceUntil":"E"}"#, renews, link,
            ]
        ),
        PlayStateRow(
            state: "ON_HOLD",
            type: 5,
            order: "GPA.1..0",
            item: #"{"expiryTime":"2026-01-01T00:01:00Z"}"#,
            expected: past + [gap, "purchase.retry_started t1@S {}", renews, link]
        ),
        PlayStateRow(
            state: "PAUSED",
            type: 10,
            changes: #"{"pausedStateContext":{"autoResumeTime":"2026-02-08T00:00:00Z"}}"#,
            expected: onlyPast + [#"purchase.paused t1@S {"resumesAt":"G"}"#, renews, link]
        ),
        PlayStateRow(
            state: "EXPIRED",
            type: 13,
            changes: #"{"canceledStateContext":{"systemInitiatedCancellation":{}}}"#,
            item: #"{"expiryTime":"2026-01-01T00:01:00Z"}"#,
            expected: onlyPast + [
                #"purchase.expired t1@S {"transactionId":"GPA.1","reason":"system"}"#, link,
            ]
        ),
        PlayStateRow(
            state: "EXPIRED",
            type: 12,
            item: #"{"expiryTime":"2026-01-01T00:01:00Z"}"#,
            expected: onlyPast + [
                #"revocation.revoked t1@S {"transactionId":"GPA.1"}"#,
                #"purchase.expired t1@S {"transactionId":"GPA.1"}"#, link,
            ]
        ),
        // Cancelled in grace or on hold: over at once.
        PlayStateRow(
            state: "CANCELED",
            type: 3,
            changes: #"{"canceledStateContext":{"developerInitiatedCancellation":{}}}"#,
            item: #"{"expiryTime":"2026-01-01T00:01:00Z","autoRenewingPlan":{}}"#,
            expected: past + [
                #"purchase.expired t1@S {"transactionId":"GPA.1","reason":"developer"}"#,
                #"purchase.renewal_changed t1@S {"reason":"developer","autoRenew":false}"#, link,
            ]
        ),
        // Of tomorrow, and of nonsense.
        PlayStateRow(
            state: "SLEEPING",
            type: 4,
            expected: [
                #"signal.noted t1@S {"name":"subscription_answer","#
                    + #""detail":"subscriptionState is not known"}"#
            ]
        ),
        PlayStateRow(
            state: "ACTIVE",
            type: 4,
            item: #"{"expiryTime":"1999-01-01T00:00:00Z"}"#,
            expected: [
                #"signal.noted t1@S {"name":"subscription_answer","#
                    + #""detail":"expiryTime is not within 2000 to 2200"}"#
            ]
        ),
        PlayStateRow(
            state: "ACTIVE",
            type: 4,
            item: #"{"expiryTime":null}"#,
            expected: [
                #"signal.noted t1@S {"name":"subscription_answer","#
                    + #""detail":"lineItems.expiryTime is missing"}"#
            ]
        ),
        PlayStateRow(
            state: "ACTIVE",
            type: 4,
            changes: #"{"lineItems":[]}"#,
            expected: [
                #"signal.noted t1@S {"name":"subscription_answer","#
                    + #""detail":"lineItems are missing"}"#
            ]
        ),
    ]

    // row 2.3, row 8.3
    @Test(arguments: rows)
    func `comes to the events of its row`(_ row: PlayStateRow) throws {
        let answer = try PlaySample.subscription(
            row.state,
            after: row.type,
            order: row.order,
            row.changes,
            item: row.item
        )
        let submission = try PlaySample.submission(answer)
        #expect(PlaySample.lines(submission) == row.expected)
        #expect(submission.evidence == Array(answer.description.utf8))
        #expect(row.type == nil || submission.id == "answer/m1")
    }

    // Stores, rule 3: what came late may tell of an earlier renewal than the answer's, which then is not what
    // began the running period.
    @Test(arguments: [1, 2])
    func `after a notification that came late says weakly since when it runs`(_ type: Int) throws {
        func renewal(delayDays: Int64) throws -> (observedAt: Instant, kinds: Set<EventKind>) {
            let day = Instant.millisecondsPerDay
            let pushed = PlaySample.told.advanced(byMilliseconds: -delayDays * day)
            let answer = try PlaySample.subscription(
                "ACTIVE",
                after: type,
                order: "GPA.1..4",
                at: pushed
            )
            let members = (answer.members ?? []).filter { $0.name != "observedAt" }
            let submission = try PlaySample.submission(
                .object(members + [JSONMember("observedAt", .instant(PlaySample.told))])
            )
            let period = try #require(submission.events.last { $0.kind == .purchaseRenewed })
            #expect(period.time == pushed)
            return (period.observedAt, Set(submission.events.map(\.kind)))
        }
        let (prompt, late) = try (renewal(delayDays: 0), renewal(delayDays: 2))
        #expect(prompt.observedAt == PlaySample.told && !prompt.kinds.contains(.purchaseExtended))
        #expect(late.observedAt < PlaySample.start && late.kinds.contains(.purchaseExtended))
    }

    @Test func `has a row for each state that is documented`() {
        let tested = Set(Self.rows.map { "SUBSCRIPTION_STATE_" + $0.state })
        #expect(tested.isSuperset(of: PlayStates.all))
        #expect(PlayStates.all.count == 8)
    }

    @Test func `of more products than there are is kept, and means nothing`() throws {
        let item = #"{"productId":"p","expiryTime":"2026-02-01T00:00:00Z"}"#
        for (count, kind) in [(64, EventKind.purchaseCompleted), (65, .signalNoted)] {
            let items = Array(repeating: item, count: count).joined(separator: ",")
            let answer = try PlaySample.subscription(
                "ACTIVE",
                after: 4,
                #"{"lineItems":[\#(items)]}"#
            )
            #expect(try PlaySample.submission(answer).events.first?.kind == kind)
        }
    }

    @Test func `of a tester is the sandbox's`() throws {
        let answer = try PlaySample.subscription("ACTIVE", after: 4, #"{"testPurchase":{}}"#)
        #expect(try PlaySample.submission(answer).environment == .sandbox)
        let other = try PlaySample.subscription("ACTIVE", after: 4)
        #expect(try PlaySample.submission(other).environment == .production)
    }

    // row 3.2: whoever the app named is the period's account
    @Test func `names its account`() throws {
        let answer = try PlaySample.subscription(
            "ACTIVE",
            after: 4,
            #"{"externalAccountIdentifiers":{"obfuscatedExternalAccountId":"alice"}}"#
        )
        let submission = try PlaySample.submission(answer)
        #expect(submission.accounts == ["alice"])
        #expect(submission.named.contains(.customer("alice")))
        #expect(
            submission.named.contains(
                .purchase(PurchaseName(store: "play_store", originalID: "t1"))
            )
        )
    }

    static let orders: [(String, String, Int, String?)] = [
        ("GPA.1", "GPA.1", 0, nil), ("GPA.1..0", "GPA.1", 1, "GPA.1"),
        ("GPA.1..1", "GPA.1", 2, "GPA.1..0"), ("GPA.1..17", "GPA.1", 18, "GPA.1..16"),
        ("..0", "..0", 0, nil), ("GPA.1..", "GPA.1..", 0, nil), ("GPA.1..x", "GPA.1..x", 0, nil),
        ("..9223372036854775807", "..9223372036854775807", 0, nil),
    ]

    @Test(arguments: orders)
    func `counts its orders`(_ id: String, _ base: String, _ place: Int, _ previous: String?) {
        let order = PlayOrder(id)
        #expect(order.base == base)
        #expect(order.place == place)
        #expect(order.previous?.id == previous)
    }

    static let prices: [(String, Int64?)] = [
        (#"{"currencyCode":"EUR","units":"9","nanos":990000000}"#, 9_990_000),
        (#"{"currencyCode":"JPY","units":"230"}"#, 230_000_000),
        (#"{"currencyCode":"EUR","nanos":10000000}"#, 10_000),
        (#"{"currencyCode":"EUR"}"#, 0),
        (#"{"currencyCode":"EUR","units":"999999999998"}"#, 999_999_999_998_000_000),
        (#"{"currencyCode":"EUR","units":"1000000000000"}"#, nil),
        (#"{"currencyCode":"EUR","units":"9223372036854775807"}"#, nil),
        (#"{"currencyCode":"EUR","units":"-1"}"#, nil),
        (#"{"currencyCode":"EUR","units":"1","nanos":1000000000}"#, nil),
        (#"{"currencyCode":"euro","units":"1"}"#, nil), (#"{"units":"1"}"#, nil),
    ]

    // Stores, rule 8
    @Test(arguments: prices)
    func `has its price exactly`(_ text: String, _ micros: Int64?) throws {
        let price = PlayPrice(PlayObject(json: try PlaySample.json(text)))
        #expect(price?.micros == micros)
    }
}
