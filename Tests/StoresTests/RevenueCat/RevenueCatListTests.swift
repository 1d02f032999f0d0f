import Encodings
import Entitlements
import ModelSupport
import Stores
import Testing

/// Lists of RevenueCat's REST API of version 2.
struct `A list of subscriptions and purchases` {
    private static func period(
        _ kind: String,
        _ id: String,
        _ times: String,
        _ more: String = "",
        of purchase: String = "app/t1"
    ) -> [String] {
        let parts = times.split(separator: "-")
        return [
            #"~purchase.\#(kind) \#(purchase)@\#(parts[0]) {"transactionId":"\#(id)","#
                + #""productId":"pro","productKind":"auto_renewable","expiresAt":"\#(parts[1])","#
                + #""ownership":"purchased"\#(more),"storefront":"DE"}"#,
            #"~verification.passed \#(purchase)@\#(parts[0]) {"transactionId":"\#(id)","#
                + #""method":"store_api"}"#,
        ]
    }

    private static let earlier = period("completed", "t1", "B-P")
    private static let latest = earlier + period("renewed", "t2", "P-E")
    private static let extended =
        #"purchase.extended app/t1@A {"transactionId":"t2","expiresAt":"E"}"#
    private static let renews = #"purchase.renewal_changed app/t1@A {"autoRenew":true}"#
    private static let endedExtended =
        #"purchase.extended app/t1@A {"transactionId":"t2","expiresAt":"C"}"#
    /// The period has ended by the time of asking; the transactions still say when it would have.
    private static let ended = #""current_period_ends_at":1768003200000"#
    private static let latestEnded = earlier + period("renewed", "t2", "P-C")

    static let rows: [RevenueCatStandingRow] = [
        RevenueCatStandingRow(expected: latest + [extended, renews]),
        RevenueCatStandingRow(
            changes: #"{"status":"trialing","auto_renewal_status":"will_not_renew"}"#,
            expected: earlier + period("renewed", "t2", "P-E", #","offer":"trial""#) + [
                extended, #"purchase.renewal_changed app/t1@A {"autoRenew":false}"#,
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{"auto_renewal_status":"will_change_product","#
                + #""pending_changes":{"product":{"store_identifier":"basic"}}}"#,
            expected: latest + [
                extended,
                #"purchase.renewal_changed app/t1@A {"autoRenew":true,"nextProductId":"basic"}"#,
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{"auto_renewal_status":"requires_price_increase_consent"}"#,
            expected: latest + [
                extended,
                #"purchase.renewal_changed app/t1@A "#
                    + #"{"reason":"requires_price_increase_consent","autoRenew":false}"#,
            ]
        ),
        // Paid beyond the running period.
        RevenueCatStandingRow(
            changes: #"{"auto_renewal_status":"has_already_renewed","ends_at":1772323200000}"#,
            expected: earlier + period("renewed", "t2", "P-L") + [
                extended.replacing(#""E""#, with: #""L""#), renews,
            ]
        ),
        // Behind the end with access: weakly, until it was seen, since grace's end is not told.
        RevenueCatStandingRow(
            changes: #"{"status":"in_grace_period",\#(ended)}"#,
            expected: latestEnded + [
                endedExtended,
                #"~purchase.grace_started app/t1@C {"transactionId":"t2","graceUntil":"A"}"#,
                renews,
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{\#(ended)}"#,
            expected: latestEnded + [
                endedExtended,
                #"~purchase.grace_started app/t1@C {"transactionId":"t2","graceUntil":"A"}"#,
                renews,
            ]
        ),
        // Weakly, since a grace that was told before may lie between.
        RevenueCatStandingRow(
            changes: #"{"status":"in_billing_retry","gives_access":false,\#(ended)}"#,
            expected: latestEnded + [
                endedExtended, #"~purchase.retry_started app/t1@C {"transactionId":"t2"}"#, renews,
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{"status":"paused","gives_access":false,"current_period_ends_at":null}"#,
            expected: latest + ["purchase.paused app/t1@A {}", renews]
        ),
        // Ended, ahead of its time too.
        RevenueCatStandingRow(
            changes: #"{"status":"expired","gives_access":false,\#(ended)}"#,
            expected: latestEnded + [
                endedExtended, #"purchase.expired app/t1@A {"transactionId":"t2"}"#,
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{"status":"expired","gives_access":false,"#
                + #""auto_renewal_status":"will_not_renew"}"#,
            expected: latest + [
                extended, #"purchase.expired app/t1@A {"transactionId":"t2"}"#,
                #"purchase.renewal_changed app/t1@A {"autoRenew":false}"#,
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{"status":"unknown"}"#,
            expected: latest + [extended, renews]
        ),
        RevenueCatStandingRow(
            changes: #"{"status":"incomplete","gives_access":false}"#,
            expected: [#"purchase.pending app/t1@A {"productId":"pro"}"#]
        ),
    ]

    // trap 24; Stores, rule 1
    @Test(arguments: rows)
    func `comes to what its row says`(_ row: RevenueCatStandingRow) throws {
        let answer = RevenueCatAnswerSample.list(
            [try RevenueCatAnswerSample.subscription(row.changes)],
            transactions: [try RevenueCatAnswerSample.transactions()]
        )
        #expect(try RevenueCatAnswerSample.lines(answer) == row.expected)
        let accounts = try RevenueCatAnswerSample.submissions(answer).flatMap(\.accounts)
        #expect(accounts.allSatisfy { $0 == "u1" })
    }

    // P4; Stores, rule 7: a grace that is told was given, to its end or until nothing is given any more
    @Test(arguments: [(1_768_003_200_000, "C", "C"), (1_770_508_800_000, "G", "A")])
    func `tries again behind the grace that is told`(
        _ until: Int,
        _ end: String,
        _ start: String
    ) throws {
        let transactions = try RevenueCatAnswerSample.json(
            """
            {"items":[
              {"id":"t2","purchased_at":1767225600000,"expiration_date":1767830400000,
               "effective_expiration_date":\(until)},
              {"id":"t1","purchased_at":1764547200000,"expiration_date":1767225600000}]}
            """
        )
        let subscription = try RevenueCatAnswerSample.subscription(
            #"{"status":"in_billing_retry","gives_access":false,"#
                + #""current_period_ends_at":1767830400000}"#
        )
        let answer = RevenueCatAnswerSample.list([subscription], transactions: [transactions])
        let lines = try RevenueCatAnswerSample.lines(answer).filter { line in
            line.contains("grace") || line.contains("retry")
        }
        #expect(
            lines == [
                "~purchase.grace_started app/t1@2026-01-08T00:00:00.000Z "
                    + #"{"transactionId":"t2","graceUntil":"\#(end)"}"#,
                #"purchase.retry_started app/t1@\#(start) {"transactionId":"t2"}"#,
            ]
        )
    }

    // E1: whoever asks in a loop records one answer an hour, and it is a repeat where it is not dated
    @Test func `behind its end says the same for an hour`() throws {
        let subscription = try RevenueCatAnswerSample.subscription("{\(Self.ended)}")
        func told(after minutes: Int64, isDated: Bool = true) throws -> [Submission] {
            let instant = RevenueCatAnswerSample.asked.advanced(byMilliseconds: minutes * 60_000)
            let asked = RevenueCatAnswerSample.asked(
                .members(["object": "list", "items": .array([subscription])]),
                at: instant,
                more: [
                    JSONMember(
                        "products",
                        .members(["prod1": .members(["store_identifier": "pro"])])
                    )
                ]
            )
            let members = (asked.members ?? []).filter { isDated || $0.name != "observedAt" }
            return try RevenueCatAnswerSample.submissions(.object(members), now: instant)
        }
        func ends(after minutes: Int64) throws -> [Instant] {
            try told(after: minutes).flatMap(\.events).compactMap { $0.data.instant(.graceUntil) }
        }
        #expect(try told(after: 1).map(\.id) == told(after: 60).map(\.id))
        #expect(try told(after: 1).map(\.id) != told(after: 61).map(\.id))
        let hour = RevenueCatAnswerSample.asked.advanced(byMilliseconds: 3_600_000)
        #expect(try ends(after: 1) == [hour])
        #expect(try ends(after: 60) == [hour])
        let undated = try told(after: 1, isDated: false)
        #expect(try undated.map(\.id) == told(after: 61, isDated: false).map(\.id))
    }

    // Stores, rule 6
    @Test(arguments: [
        (#"{"status":"of_tomorrow"}"#, "status is not known"),
        (#"{"status":"unknown","gives_access":false}"#, "status is unknown, without access"),
        (#"{"status":"active","gives_access":false}"#, "status is active, without access"),
        (#"{"current_period_ends_at":null}"#, "current_period_ends_at is missing"),
        (#"{"starts_at":7}"#, "starts_at is not within 2000 to 2200"),
        (
            #"{"store_subscription_identifier":""}"#,
            "store_subscription_identifier is missing or not valid"
        ),
        (#"{"object":"of_tomorrow"}"#, "object is not known"),
        (#"{"environment":"of_tomorrow"}"#, "environment is not known"),
    ])
    func `notes what cannot be used`(_ changes: String, _ detail: String) throws {
        let lines = try RevenueCatAnswerSample.lines(
            RevenueCatAnswerSample.list([try RevenueCatAnswerSample.subscription(changes)])
        )
        let subject = detail.hasPrefix("environment") ? "store/revenuecat" : "customer/u1"
        #expect(
            lines == [
                #"signal.noted \#(subject)@A {"name":"subscription_answer","detail":"\#(detail)"}"#
            ]
        )
    }

    @Test func `is named by the first transaction, or by what is known of it`() throws {
        func purchases(_ changes: String) throws -> Set<String> {
            let answer = RevenueCatAnswerSample.list([
                try RevenueCatAnswerSample.subscription(changes)
            ])
            return Set(
                try RevenueCatAnswerSample.submissions(answer).flatMap(\.events).map {
                    $0.subject.description
                }
            )
        }
        #expect(try purchases("{}") == ["purchase/app_store/t2"])
        #expect(
            try purchases(#"{"store":"rc_billing","store_subscription_identifier":"tx1..17"}"#)
                == ["purchase/rc_billing/tx1"]
        )
    }

    @Test func `fills what nobody told, where it does not tell the transactions`() throws {
        let lines = try RevenueCatAnswerSample.lines(
            RevenueCatAnswerSample.list([
                try RevenueCatAnswerSample.subscription(
                    #"{"store":"play_store","store_subscription_identifier":"GPA.1..1"}"#
                )
            ])
        )
        #expect(
            lines
                == Self.period("completed", "GPA.1", "B-P", of: "play/GPA.1")
                + [#"~purchase.grace_started play/GPA.1@P {"graceUntil":"P"}"#]
                + Self.period("renewed", "GPA.1..1", "P-E", of: "play/GPA.1") + [
                    #"purchase.extended play/GPA.1@A {"transactionId":"GPA.1..1","expiresAt":"E"}"#,
                    #"purchase.renewal_changed play/GPA.1@A {"autoRenew":true}"#,
                ]
        )
    }

    @Test func `takes the ends of earlier transactions as they took effect`() throws {
        let transactions = try RevenueCatAnswerSample.json(
            """
            {"items":[
              {"id":"t0","purchased_at":1764547200000,"expiration_date":1767225600000,
               "effective_expiration_date":1767225601000},
              {"id":"t1","purchased_at":1765000000000,"expiration_date":1767225600000,
               "effective_expiration_date":1766000000000},
              {"id":"lost","purchased_at":1765000000001,"expiration_date":null},{"id":""}]}
            """
        )
        let answer = RevenueCatAnswerSample.list(
            [try RevenueCatAnswerSample.subscription()],
            transactions: [transactions]
        )
        let events = try RevenueCatAnswerSample.submissions(answer).flatMap(\.events)
        let periods = events.filter { $0.data.text(.productKind) != nil }
        #expect(periods.map { $0.data.text(.transactionID) } == ["t0", "t1", "t2"])
        #expect(
            periods.map { $0.data.instant(.expiresAt)?.milliseconds } == [
                1_767_225_600_000, 1_766_000_000_000, 1_769_904_000_000,
            ]
        )
        let grace = events.filter { $0.kind == .purchaseGraceStarted }
        #expect(grace.map { $0.data.instant(.graceUntil)?.milliseconds } == [1_767_225_601_000])
        #expect(Set(events.map(\.subject.description)) == ["purchase/app_store/t0"])
    }

    @Test(arguments: [
        ("owned", nil as String?),
        (
            "refunded",
            #"revocation.refunded app/o1@A {"transactionId":"o1","reason":"customer_support"}"#
        ),
    ])
    func `has one-time purchases`(_ status: String, _ refund: String?) throws {
        let purchase = try RevenueCatAnswerSample.json(
            """
            {"object":"purchase","id":"purch1","customer_id":"u1","product_id":"prod1",
             "purchased_at":1767225600000,"quantity":2,"status":"\(status)","environment":"production",
             "store":"app_store","store_purchase_identifier":"o1","ownership":"family_shared"}
            """
        )
        let products = try RevenueCatAnswerSample.json(
            #"{"prod1":{"store_identifier":"coins","type":"consumable"}}"#
        )
        #expect(
            try RevenueCatAnswerSample.lines(
                RevenueCatAnswerSample.list([purchase], products: products)
            ) == [
                #"~purchase.completed app/o1@P {"transactionId":"o1","productId":"coins","#
                    + #""productKind":"consumable","quantity":2,"ownership":"family_shared"}"#,
                #"~verification.passed app/o1@P {"transactionId":"o1","method":"store_api"}"#,
            ] + [refund].compactMap(\.self)
        )
    }

    @Test func `by itself names its customers, and its time is that of arrival`() throws {
        let answer = JSONValue.members([
            "object": "list",
            "items": .array([
                try RevenueCatAnswerSample.subscription(),
                try RevenueCatAnswerSample.subscription(
                    #"{"id":"sub2","customer_id":"u2","original_customer_id":"u3"}"#
                ),
            ]),
        ])
        // Without a product nothing is said of them, and whom it is about stands all the same.
        let submission = try #require(try RevenueCatAnswerSample.submissions(answer).first)
        #expect(submission.events.map(\.subject) == [.customer("u1"), .customer("u2")])
        #expect(submission.named == [.customer("u1"), .customer("u2"), .customer("u3")])
        let asked = RevenueCatAnswerSample.asked
        #expect(submission.events.map(\.observedAt) == [asked, asked])
        #expect(submission.links.isEmpty)
    }

    @Test func `that is the customer alone is noted, and names them by any name`() throws {
        let customer = try RevenueCatAnswerSample.json(#"{"object":"customer","id":"u9"}"#)
        let submission = try #require(
            try RevenueCatAnswerSample.submissions(RevenueCatAnswerSample.asked(customer)).first
        )
        #expect(submission.events.map(\.subject) == [.customer("u1")])
        #expect(submission.named == [.customer("u1"), .customer("u9")])
    }

    @Test func `of very much is recorded in several parts`() throws {
        let items = try (0..<300).map {
            try RevenueCatAnswerSample.subscription(
                #"{"id":"s\#($0)","store_subscription_identifier":"x\#($0)"}"#
            )
        }
        let submissions = try RevenueCatAnswerSample.submissions(
            RevenueCatAnswerSample.list(items)
        )
        #expect(submissions.count == 2)
        #expect(submissions.allSatisfy { $0.events.count <= 1000 })
        #expect(Set(submissions.map(\.id)).count == 2)
        #expect(submissions.flatMap(\.accounts).count == 300)
    }

    @Test(arguments: [
        (#"{"appUserId":"","answer":{"object":"list","items":[]}}"#, "appUserId"),
        (#"{"appUserId":"u","answer":7}"#, "answer"),
        (#"{"appUserId":"u","answer":{"object":"product"}}"#, "answer"),
        (#"{"appUserId":"u","answer":{"object":"list"}}"#, "answer"),
        (
            #"{"appUserId":"u","observedAt":"2026-01-17T00:00:00Z","answer":{"subscriber":{}}}"#,
            "observedAt"
        ),
        (#"{"appUserId":"u","observedAt":7,"answer":{"subscriber":{}}}"#, "observedAt"),
        (#"{"subscriber":{}}"#, "subscriber.original_app_user_id"),
        (#"[{"subscriber":{"original_app_user_id":7}}]"#, "[0].subscriber.original_app_user_id"),
    ])
    func `is refused with the member's path`(_ text: String, _ path: String) throws {
        let refusal = try RevenueCatAnswerSample.refusal(RevenueCatAnswerSample.json(text))
        #expect(refusal?.path == path)
    }
}
