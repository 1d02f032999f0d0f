import Encodings
import Entitlements
import ModelSupport
import Stores
import Testing

/// One way that a subscription can stand, and the events that it comes to.
struct RevenueCatStandingRow: Sendable, CustomTestStringConvertible {
    var changes = "{}"
    var id = "GPA.1..1"
    let expected: [String]

    var testDescription: String { "\(id) \(changes)" }
}

struct `A subscriber's subscription` {
    private static func period(
        _ kind: String,
        _ id: String,
        _ times: String,
        _ rest: String = "",
        of purchase: String = "play/GPA.1"
    ) -> [String] {
        let parts = times.split(separator: "-")
        return [
            #"~purchase.\#(kind) \#(purchase)@\#(parts[0]) {"transactionId":"\#(id)","#
                + #""productId":"pro","productKind":"auto_renewable","expiresAt":"\#(parts[1])","#
                + #""ownership":"purchased"\#(rest)}"#,
            #"~verification.passed \#(purchase)@\#(parts[0]) {"transactionId":"\#(id)","#
                + #""method":"store_api"}"#,
        ]
    }

    /// What stands in for what nobody told.
    private static let past =
        period("completed", "GPA.1", "B-P")
        + [#"~purchase.grace_started play/GPA.1@P {"graceUntil":"P"}"#]
    private static let latest = past + period("renewed", "GPA.1..1", "P-E")
    private static func extended(_ end: String = "E") -> String {
        #"purchase.extended play/GPA.1@A {"transactionId":"GPA.1..1","expiresAt":"\#(end)"}"#
    }
    private static let renews = #"purchase.renewal_changed play/GPA.1@A {"autoRenew":true}"#
    private static let grace =
        #"purchase.grace_started play/GPA.1@C {"transactionId":"GPA.1..1","graceUntil":"G"}"#
    private static let over =
        #"purchase.expired play/GPA.1@A {"transactionId":"GPA.1..1"}"#
    /// Ended on the tenth, five days before it is asked for.
    private static let ended = #""expires_date":"2026-01-10T00:00:00Z""#
    private static let latestEnded = past + period("renewed", "GPA.1..1", "P-C")

    static let rows: [RevenueCatStandingRow] = [
        RevenueCatStandingRow(expected: latest + [extended(), renews]),
        RevenueCatStandingRow(
            changes: #"{"unsubscribe_detected_at":"2026-01-10T00:00:00Z"}"#,
            expected: latest + [
                extended(), #"purchase.renewal_changed play/GPA.1@C {"autoRenew":false}"#,
            ]
        ),
        // Payment failed before the end: with grace behind it, and without.
        RevenueCatStandingRow(
            changes: #"{"billing_issues_detected_at":"2026-01-10T00:00:00Z","#
                + #""grace_period_expires_date":"2026-02-08T00:00:00Z"}"#,
            expected: latest + [
                extended(),
                #"purchase.grace_started play/GPA.1@E {"transactionId":"GPA.1..1","graceUntil":"G"}"#,
                renews,
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{"billing_issues_detected_at":"2026-01-10T00:00:00Z"}"#,
            expected: latest + [
                extended(), #"~purchase.retry_started play/GPA.1@E {"transactionId":"GPA.1..1"}"#,
                renews,
            ]
        ),
        // The grace of an earlier period.
        RevenueCatStandingRow(
            changes: #"{"grace_period_expires_date":"2026-02-08T00:00:00Z"}"#,
            expected: latest + [extended(), renews]
        ),
        // In grace, which is said now; behind it, when it is said weakly.
        RevenueCatStandingRow(
            changes: #"{\#(ended),"grace_period_expires_date":"2026-02-08T00:00:00Z"}"#,
            expected: latestEnded + [extended("C"), grace, renews]
        ),
        RevenueCatStandingRow(
            changes: #"{"expires_date":"2026-01-05T00:00:00Z","#
                + #""grace_period_expires_date":"2026-01-10T00:00:00Z","#
                + #""billing_issues_detected_at":"2026-01-05T00:00:00Z"}"#,
            expected: past
                + period("renewed", "GPA.1..1", "P-2026:01:05").map {
                    $0.replacing("2026:01:05", with: "2026-01-05T00:00:00.000Z")
                } + [
                    extended("2026-01-05T00:00:00.000Z"),
                    #"~purchase.grace_started play/GPA.1@2026-01-05T00:00:00.000Z "#
                        + #"{"transactionId":"GPA.1..1","graceUntil":"C"}"#,
                    #"purchase.expired play/GPA.1@A {"transactionId":"GPA.1..1","#
                        + #""reason":"billing_error"}"#,
                ]
        ),
        RevenueCatStandingRow(
            changes: "{\(ended)}",
            expected: latestEnded + [extended("C"), over]
        ),
        RevenueCatStandingRow(
            changes: #"{\#(ended),"unsubscribe_detected_at":"2026-01-01T00:00:00Z"}"#,
            expected: latestEnded + [
                extended("C"),
                #"purchase.expired play/GPA.1@A {"transactionId":"GPA.1..1","#
                    + #""reason":"unsubscribe"}"#,
                #"purchase.renewal_changed play/GPA.1@P {"autoRenew":false}"#,
            ]
        ),
        // Paused, until a day that is still to come, or was.
        RevenueCatStandingRow(
            changes: #"{\#(ended),"auto_resume_date":"2026-03-01T00:00:00Z"}"#,
            expected: latestEnded + [
                #"purchase.paused play/GPA.1@C {"resumesAt":"L"}"#, renews,
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{\#(ended),"auto_resume_date":"2026-01-10T00:00:00Z"}"#,
            expected: latestEnded + [extended("C"), over]
        ),
        // A refund says nothing of the end, which it has moved.
        RevenueCatStandingRow(
            changes: #"{"refunded_at":"2026-01-10T00:00:00Z"}"#,
            expected: latest + [
                #"revocation.refunded play/GPA.1@C {"transactionId":"GPA.1..1","#
                    + #""reason":"customer_support"}"#
            ]
        ),
        // The first period, by its id or by its start: there is nothing before it.
        RevenueCatStandingRow(
            id: "GPA.1",
            expected: period("completed", "GPA.1", "P-E") + [
                extended().replacing("GPA.1..1", with: "GPA.1"), renews,
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{"store":"app_store","original_purchase_date":"2026-01-01T00:00:00Z"}"#,
            id: "t1",
            expected: period("completed", "t1", "P-E", of: "app/t1") + [
                #"purchase.extended app/t1@A {"transactionId":"t1","expiresAt":"E"}"#,
                renews.replacing("play/GPA.1", with: "app/t1"),
            ]
        ),
        // Of a renewal of the App Store the first transaction is not told: it has this one's name.
        RevenueCatStandingRow(
            changes: #"{"store":"mac_app_store"}"#,
            id: "t2",
            expected: period("renewed", "t2", "P-E", of: "app/t2") + [
                #"purchase.extended app/t2@A {"transactionId":"t2","expiresAt":"E"}"#,
                renews.replacing("play/GPA.1", with: "app/t2"),
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{"period_type":"trial","price":{"amount":0,"currency":"EUR"}}"#,
            expected: past
                + period("renewed", "GPA.1..1", "P-E").map {
                    $0.replacing(#"purchased"}"#, with: #"purchased","offer":"trial"}"#)
                        .replacing(
                            #""expiresAt":"E","#,
                            with: #""expiresAt":"E","priceMicros":0,"currencyCode":"EUR","#
                        )
                } + [extended(), renews]
        ),
        // What does not renew.
        RevenueCatStandingRow(
            changes: #"{"store":"promotional","expires_date":"2222-01-01T00:00:00Z"}"#,
            id: "p1",
            expected: [
                #"~purchase.completed purchase/promotional/p1@P {"transactionId":"p1","#
                    + #""productId":"pro","productKind":"non_consumable","ownership":"purchased"}"#,
                #"~verification.passed purchase/promotional/p1@P {"transactionId":"p1","#
                    + #""method":"store_api"}"#,
            ]
        ),
        RevenueCatStandingRow(
            changes: #"{"period_type":"prepaid","product_plan_identifier":"plan"}"#,
            expected: [
                #"~purchase.completed play/GPA.1@P {"transactionId":"GPA.1..1","#
                    + #""productId":"pro:plan","productKind":"non_renewing","expiresAt":"E","#
                    + #""ownership":"purchased"}"#,
                period("renewed", "GPA.1..1", "P-E")[1], extended(),
            ]
        ),
    ]

    // trap 24; Stores, rule 1
    @Test(arguments: rows)
    func `comes to what its row says`(_ row: RevenueCatStandingRow) throws {
        let answer = try RevenueCatAnswerSample.subscriber(row.changes, id: row.id)
        #expect(try RevenueCatAnswerSample.lines(answer) == row.expected)
        // The same with who was asked for.
        let asked = RevenueCatAnswerSample.asked(answer)
        #expect(try RevenueCatAnswerSample.lines(asked) == row.expected)
        let accounts = try RevenueCatAnswerSample.submissions(asked).flatMap(\.accounts)
        #expect(Set(accounts) == ["u1"])
    }

    // Stores, rule 6
    @Test(arguments: [
        (#"{"expires_date":null}"#, "expires_date is missing"),
        (#"{"expires_date":[]}"#, "expires_date is not within 2000 to 2200"),
        (#"{"purchase_date":"this is no date"}"#, "purchase_date is not within 2000 to 2200"),
        (#"{"refunded_at":"1999-01-01T00:00:00Z"}"#, "refunded_at is not within 2000 to 2200"),
        (#"{"store":"??"}"#, "store is missing or not valid"),
        (#"{"store_transaction_id":null}"#, "store_transaction_id is missing or not valid"),
        (#"{"is_sandbox":"perhaps"}"#, "environment is not known"),
    ])
    func `that cannot be used is noted, and hides no other`(
        _ changes: String,
        _ detail: String
    ) throws {
        let good = try RevenueCatAnswerSample.subscriber()["subscriber"]?["subscriptions"]?["pro"]
        let subscriptions = JSONValue.members([
            "bad": try RevenueCatAnswerSample.changed(#require(good), changes),
            "pro": try #require(good),
        ])
        let lines = try RevenueCatAnswerSample.lines(
            RevenueCatAnswerSample.bare(subscriptions: subscriptions)
        )
        let subject = changes.contains("is_sandbox") ? "store/revenuecat" : "customer/u1"
        #expect(
            lines.first
                == #"signal.noted \#(subject)@A {"name":"subscription_answer","detail":"\#(detail)"}"#
        )
        #expect(Array(lines.dropFirst()) == Self.rows[0].expected)
    }

    // trap 3
    @Test func `of the sandbox stands apart from production's`() throws {
        let good = try #require(
            try RevenueCatAnswerSample.subscriber()["subscriber"]?["subscriptions"]?["pro"]
        )
        let submissions = try RevenueCatAnswerSample.submissions(
            RevenueCatAnswerSample.bare(
                subscriptions: .members([
                    "pro": good,
                    "test": try RevenueCatAnswerSample.changed(good, #"{"is_sandbox":true}"#),
                ])
            )
        )
        #expect(submissions.map(\.environment) == [.production, .sandbox])
        let products = submissions.map { $0.events.compactMap { $0.data.text(.productID) }.last }
        #expect(products == ["pro", "test"])
        let alone = try RevenueCatAnswerSample.submissions(
            RevenueCatAnswerSample.subscriber(#"{"is_sandbox":true}"#)
        )
        #expect(alone.map(\.environment) == [.sandbox])
    }

    // E1
    @Test func `has the same name whenever it is told, and another once it says something else`()
        throws
    {
        func ids(_ changes: String, at days: Int64, of customer: String = "u1") throws -> [String] {
            let instant = RevenueCatAnswerSample.asked
                .advanced(byMilliseconds: days * Instant.millisecondsPerDay)
            let answer = RevenueCatAnswerSample.asked(
                try RevenueCatAnswerSample.subscriber(changes),
                of: customer,
                at: instant
            )
            return try RevenueCatAnswerSample.submissions(answer, now: instant).map(\.id)
        }
        let first = try ids("{}", at: 0)
        #expect(try ids("{}", at: 3) == first)
        #expect(try ids(#"{"management_url":"https://example.com/2"}"#, at: 0) == first)
        // It has ended meanwhile, was refunded, is somebody else's.
        #expect(try ids("{}", at: 20) != first)
        #expect(try ids(#"{"refunded_at":"2026-01-10T00:00:00Z"}"#, at: 0) != first)
        #expect(try ids("{}", at: 0, of: "u2") != first)
    }

    @Test func `links the other names of its customer, and never those that are no ids`() throws {
        let answer = RevenueCatAnswerSample.asked(
            try RevenueCatAnswerSample.json(
                """
                {"subscriber":{"original_app_user_id":"$RCAnonymousID:1","aliases":["u1","u2",""],
                 "subscriptions":{},"non_subscriptions":{}}}
                """
            )
        )
        let submission = try #require(try RevenueCatAnswerSample.submissions(answer).first)
        #expect(submission.links.map(\.customer) == ["u1", "u1"])
        #expect(submission.links.map(\.alias) == ["$RCAnonymousID:1", "u2"])
        #expect(
            submission.events.map { $0.data.text(.name) ?? "" } == [
                "customer_answer", "customer_ids_passed_over",
            ]
        )
        #expect(
            submission.named == [
                .customer("$RCAnonymousID:1"), .customer("u1"), .customer("u2"),
            ]
        )
    }

    @Test func `beside one-time purchases`() throws {
        let purchases = try RevenueCatAnswerSample.json(
            """
            {"life":[{"id":"a","is_sandbox":false,"purchase_date":"2026-01-01T00:00:00Z",
                      "store":"app_store","store_transaction_id":"o1",
                      "price":{"amount":9.99,"currency":"USD"}},
                     {"id":"b","purchase_date":"2026-01-01T00:00:00Z","store":"app_store"}]}
            """
        )
        #expect(
            try RevenueCatAnswerSample.lines(RevenueCatAnswerSample.bare(purchases: purchases)) == [
                #"~purchase.completed app/o1@P {"transactionId":"o1","productId":"life","#
                    + #""productKind":"non_consumable","priceMicros":9990000,"#
                    + #""currencyCode":"USD"}"#,
                #"~verification.passed app/o1@P {"transactionId":"o1","method":"store_api"}"#,
                #"signal.noted customer/u1@A {"name":"purchase_answer","#
                    + #""detail":"store_transaction_id is missing or not valid"}"#,
            ]
        )
    }

    // Bodies of a peer's tests (RevenueCat/purchases-ios)
    @Test(
        .enabled(if: Vectors.arePresent, "\(Vectors.absence)"),
        arguments: [
            // One purchase; the subscriptions of old bodies have no transaction.
            ("CustomerInfo.json", 3, ["purchase/app_store/340001090153249"]),
            ("CustomerInfoWithoutOriginalSource.json", 3, ["purchase/app_store/340001090153249"]),
            ("CustomerInfoWithInvalidSubscription.json", 2, []),
            ("CustomerInfoWithDuplicateMappedProductKeys.json", 3, []),
            ("CustomerInfo-v2.json", 4, []),
        ]
    )
    func `of a recorded body is taken as far as it says what it is of`(
        _ name: String,
        _ count: Int,
        _ purchases: [String]
    ) throws {
        let json = try Vectors.json("revenuecat/customer-info/" + name)
        #expect(RevenueCatImport.looksLikeRevenueCat(json))
        let submissions = try RevenueCatAnswerSample.submissions(json, now: AppStoreSample.now)
        let subjects = submissions.flatMap(\.events).map(\.subject.description)
        #expect(Set(subjects.filter { $0.hasPrefix("purchase/") }).sorted() == purchases)
        let noted = subjects.count { $0.hasPrefix("customer/") }
        #expect(noted + purchases.count == count)
    }
}
