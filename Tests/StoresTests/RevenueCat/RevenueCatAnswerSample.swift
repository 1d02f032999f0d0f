import Encodings
import Entitlements
import ModelSupport
import Stores
import Testing

/// Answers of RevenueCat's API to vary, and a short form of what they come to.
enum RevenueCatAnswerSample {
    /// When RevenueCat is asked: in the second period, unless a row says otherwise.
    static let asked = Instant(milliseconds: 1_768_435_200_000)

    /// Before anything in them.
    private static let began = Instant(milliseconds: 1_764_547_200_000)

    /// Short names of the instants.
    private static let labels = [
        ("2025-12-01T00:00:00.000Z", "B"),  // began
        ("2026-01-01T00:00:00.000Z", "P"),  // the latest period's start
        ("2026-01-10T00:00:00.000Z", "C"),  // a change
        ("2026-01-15T00:00:00.000Z", "A"),  // asked
        ("2026-02-01T00:00:00.000Z", "E"),  // end
        ("2026-02-08T00:00:00.000Z", "G"),  // grace's end
        ("2026-03-01T00:00:00.000Z", "L"),  // later
    ]

    static func json(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: Array(text.utf8))
    }

    /// A subscriber with a subscription to `pro`, some of whose members are replaced or added.
    static func subscriber(_ changes: String = "{}", id: String = "GPA.1..1") throws -> JSONValue {
        let subscription = try json(
            """
            {"auto_resume_date":null,"billing_issues_detected_at":null,
             "expires_date":"2026-02-01T00:00:00Z","grace_period_expires_date":null,
             "is_sandbox":false,"original_purchase_date":"2025-12-01T00:00:00Z",
             "ownership_type":"PURCHASED","period_type":"normal",
             "purchase_date":"2026-01-01T00:00:00Z","refunded_at":null,"store":"play_store",
             "store_transaction_id":"\(id)","unsubscribe_detected_at":null}
            """
        )
        return try bare(subscriptions: .members(["pro": changed(subscription, changes)]))
    }

    static func bare(
        subscriptions: JSONValue = .object([]),
        purchases: JSONValue = .object([])
    ) throws -> JSONValue {
        .members([
            "request_date": "2026-01-15T00:00:00Z",
            "request_date_ms": .integer(asked.milliseconds),
            "subscriber": .members([
                "original_app_user_id": "u1", "subscriptions": subscriptions,
                "non_subscriptions": purchases, "last_seen": "2026-01-14T00:00:00Z",
            ]),
        ])
    }

    /// A subscription of version 2, some of whose members are replaced or added.
    static func subscription(_ changes: String = "{}") throws -> JSONValue {
        try changed(
            json(
                """
                {"object":"subscription","id":"sub1","customer_id":"u1",
                 "original_customer_id":"u1","product_id":"prod1","starts_at":1764547200000,
                 "current_period_starts_at":1767225600000,"current_period_ends_at":1769904000000,
                 "ends_at":1769904000000,"gives_access":true,"pending_payment":false,
                 "auto_renewal_status":"will_renew","status":"active","environment":"production",
                 "store":"app_store","store_subscription_identifier":"t2",
                 "ownership":"purchased","country":"DE"}
                """
            ),
            changes
        )
    }

    /// The first two transactions of that subscription.
    static func transactions() throws -> JSONValue {
        try json(
            """
            {"object":"list","items":[
              {"object":"subscription_transaction","id":"t2","purchased_at":1767225600000,
               "product_store_identifier":"pro","expiration_date":1769904000000,
               "effective_expiration_date":1769904000000},
              {"object":"subscription_transaction","id":"t1","purchased_at":1764547200000,
               "product_store_identifier":"pro","expiration_date":1767225600000,
               "effective_expiration_date":1767225600000}],"next_page":null}
            """
        )
    }

    /// A list of version 2 as the client hands it on.
    static func list(
        _ items: [JSONValue],
        transactions: [JSONValue] = [],
        products: JSONValue = .members(["prod1": .members(["store_identifier": "pro"])])
    ) -> JSONValue {
        asked(
            .members(["object": "list", "items": .array(items), "next_page": .null]),
            more: [
                JSONMember("transactions", .members(["sub1": .array(transactions)])),
                JSONMember("products", products),
            ]
        )
    }

    /// An answer with who was asked for.
    static func asked(
        _ answer: JSONValue,
        of customer: String = "u1",
        at instant: Instant = asked,
        more: [JSONMember] = []
    ) -> JSONValue {
        .object(
            [
                JSONMember("appUserId", .string(customer)),
                JSONMember("observedAt", .string(instant.description)),
            ] + more + [JSONMember("answer", answer)]
        )
    }

    /// The object with members replaced or added.
    static func changed(_ object: JSONValue, _ changes: String) throws -> JSONValue {
        let changed = try json(changes).members ?? []
        let names = Set(changed.map(\.name))
        return .object((object.members ?? []).filter { !names.contains($0.name) } + changed)
    }

    /// What an answer comes to, with the domain's tables held by every event of it.
    static func submissions(_ answer: JSONValue, now: Instant = asked) throws -> [Submission] {
        let submissions = try RevenueCatImport.outcomes(of: answer, now: now).map { try $0.get() }
        for submission in submissions {
            try RevenueCatSample.check(submission)
            #expect(submission.evidence == Array(answer.description.utf8))
        }
        return submissions
    }

    /// Why an answer is refused; nil: it is not.
    static func refusal(_ answer: JSONValue, now: Instant = asked) throws -> SignalRefusal? {
        let outcomes = RevenueCatImport.outcomes(of: answer, now: now)
        guard case .failure(let refusal) = try #require(outcomes.first) else { return nil }
        return refusal
    }

    /// `type subject@time {data}` for each event, instants by their labels, without its account; `~`
    /// before what is said weakly.
    static func lines(_ submissions: [Submission]) -> [String] {
        submissions.flatMap(\.events).map { event in
            let data = JSONValue.object(
                (event.dataJSON.members ?? []).filter {
                    !["observedAt", "account"].contains($0.name)
                }
            )
            let isWeak = event.observedAt < began
            let line =
                "\(isWeak ? "~" : "")\(event.kind.name) \(event.subject)@\(event.time) \(data)"
            return labels.reduce(line) { $0.replacing($1.0, with: $1.1) }
                .replacing("purchase/play_store/", with: "play/")
                .replacing("purchase/app_store/", with: "app/")
        }
    }

    static func lines(_ answer: JSONValue, now: Instant = asked) throws -> [String] {
        lines(try submissions(answer, now: now))
    }
}
