import Encodings
import Entitlements
import StoreSimulator
import Synchronization
import Testing

@testable import Stores

struct `RevenueCat's REST API` {
    private static let key = "sk_simulated_0123456789"

    private static func api(
        _ simulated: SimulatedRevenueCatAPI,
        projectID: String? = "proj1",
        key: String = key
    ) -> RevenueCatAPI {
        let now = RevenueCatAnswerSample.asked
        return RevenueCatAPI(
            key: Array(key.utf8),
            projectID: projectID,
            baseURL: "https://rc.example.com",
            caller: StoreCaller(
                simulated.transport,
                clock: { now },
                sleep: { _ in },
                random: { 0 }
            ),
            clock: { now }
        )
    }

    private static func fault(
        _ api: RevenueCatAPI,
        of customer: CustomerID = "u1"
    ) async -> StoreFault.Code? {
        do throws(StoreFault) {
            _ = try await api.answers(of: customer)
            return nil
        } catch { return error.code }
    }

    private static func products(_ simulated: SimulatedRevenueCatAPI) throws {
        simulated.set(
            try RevenueCatAnswerSample.json(#"{"object":"product","store_identifier":"pro"}"#),
            ofProduct: "prod1"
        )
    }

    private static func submissions(_ answers: [[UInt8]]) throws -> [Submission] {
        try answers.flatMap { answer in
            try RevenueCatImport.outcomes(
                of: JSONValue(parsing: answer),
                body: answer,
                now: RevenueCatAnswerSample.asked
            ).map { try $0.get() }
        }
    }

    // row 8.3
    @Test func `of version 1 is asked once, and an import takes what it says`() async throws {
        let simulated = SimulatedRevenueCatAPI()
        simulated.set(try RevenueCatAnswerSample.subscriber(), ofSubscriber: "u1")
        let answers = try await Self.api(simulated, projectID: nil).answers(of: "u1")
        let submission = try #require(try Self.submissions(answers).first)
        #expect(submission.accounts.first == "u1")
        #expect(submission.evidence == answers.first)
        #expect(
            RevenueCatAnswerSample.lines([submission])
                == RevenueCatAnswerSample.lines(
                    try RevenueCatAnswerSample.submissions(RevenueCatAnswerSample.subscriber())
                )
        )
        #expect(simulated.requests.map(\.url) == ["https://rc.example.com/v1/subscribers/u1"])
        // Such a header would count as the customer's being seen.
        #expect(simulated.requests.allSatisfy { $0.headers["X-Platform"] == nil })
    }

    @Test func `of version 1 makes whom it does not know, and that is no answer`() async {
        let simulated = SimulatedRevenueCatAPI()
        let api = Self.api(simulated, projectID: nil)
        #expect(await Self.fault(api) == .notFound)
        #expect(await Self.fault(api) == nil)
    }

    // T2: what is asked behind a list may wait for minutes, and is newer than what the list says.
    @Test func `of version 2 says when its list was told`() async throws {
        let simulated = SimulatedRevenueCatAPI()
        try Self.products(simulated)
        simulated.set(subscriptions: [try RevenueCatAnswerSample.subscription("{}")], of: "u1")
        let asked = Atomic<Int64>(0)
        let clock: @Sendable () -> Instant = {
            let minutes = asked.load(ordering: .relaxed)
            return RevenueCatAnswerSample.asked.advanced(byMilliseconds: minutes * 60_000)
        }
        let api = RevenueCatAPI(
            key: Array(Self.key.utf8),
            projectID: "proj1",
            baseURL: "https://rc.example.com",
            caller: StoreCaller(
                { request in
                    asked.add(1, ordering: .relaxed)
                    return await simulated.transport(request)
                },
                clock: clock,
                sleep: { _ in },
                random: { 0 }
            ),
            clock: clock
        )
        let answers = try await api.answers(of: "u1")
        let times = try answers.map { try JSONValue(parsing: $0)["observedAt"]?.string }
        let first = RevenueCatAnswerSample.asked.advanced(byMilliseconds: 60_000)
        #expect(times.first == first.description)
        #expect(asked.load(ordering: .relaxed) > 3, "the control: more was asked behind it")
    }

    @Test func `of version 2 is asked for all pages, transactions and products`() async throws {
        let simulated = SimulatedRevenueCatAPI(pageSize: 2)
        try Self.products(simulated)
        let subscriptions = try (1...5).map {
            try RevenueCatAnswerSample.subscription(
                #"{"id":"sub\#($0)","store_subscription_identifier":"s\#($0)"}"#
            )
        }
        simulated.set(subscriptions: subscriptions, of: "u1")
        for number in 1...5 {
            simulated.set(
                transactions: try (0..<3).map {
                    try RevenueCatAnswerSample.json(
                        """
                        {"id":"\($0 == 2 ? "s\(number)" : "s\(number)-\($0)")",
                         "purchased_at":\(1_764_547_200_000 + $0),"expiration_date":1767225600000}
                        """
                    )
                },
                ofSubscription: "sub\(number)"
            )
        }
        let answers = try await Self.api(simulated).answers(of: "u1")
        #expect(answers.count == 4, "three pages of subscriptions, one of purchases")
        let submissions = try Self.submissions(answers)
        let names = Set(submissions.flatMap(\.events).map(\.subject.description))
        #expect(
            names == [
                "customer/u1", "purchase/app_store/s1-0", "purchase/app_store/s2-0",
                "purchase/app_store/s3-0", "purchase/app_store/s4-0", "purchase/app_store/s5-0",
            ]
        )
        // 3 + 1 pages, two of transactions each, and one product.
        #expect(simulated.requests.count == 15)
        _ = try await Self.api(simulated).answers(of: "u1")
        #expect(Set(simulated.requests.map(\.method)) == [.get])
    }

    @Test func `is asked for a product once`() async throws {
        let simulated = SimulatedRevenueCatAPI()
        try Self.products(simulated)
        simulated.set(
            subscriptions: [
                try RevenueCatAnswerSample.subscription(#"{"store":"stripe"}"#),
                try RevenueCatAnswerSample.subscription(#"{"store":"stripe","id":"sub2"}"#),
            ],
            of: "u1"
        )
        let api = Self.api(simulated)
        _ = try await api.answers(of: "u1")
        _ = try await api.answers(of: "u1")
        #expect(simulated.requests.count { $0.url.contains("/products/") } == 1)
    }

    @Test func `that no longer knows a product or transactions answers all the same`() async throws
    {
        let simulated = SimulatedRevenueCatAPI()
        simulated.set(subscriptions: [try RevenueCatAnswerSample.subscription()], of: "u1")
        let submissions = try Self.submissions(try await Self.api(simulated).answers(of: "u1"))
        #expect(submissions.count == 2)
        #expect(
            submissions[0].events.map { $0.data.text(.detail) ?? "" } == [
                "the product's store_identifier is missing or not valid"
            ]
        )
    }

    private static func list(next: String) -> StoreResponse {
        let body = #"{"object":"list","items":[],"next_page":\#(next)}"#
        return StoreResponse(status: 200, body: Array(body.utf8))
    }

    @Test(arguments: [
        // The page itself, and one that leads elsewhere.
        #""/v2/projects/proj1/customers/u1/subscriptions""#,
        #""https://example.com/v2/projects/x""#,
        #""//example.com/v2/projects/x""#, #""/v1/subscribers/u1""#, #""/v2/projects/a b""#, "7",
        "{}",
    ])
    func `whose pages lead in circles or away is at fault`(_ next: String) async {
        let simulated = SimulatedRevenueCatAPI()
        simulated.fail(with: [Self.list(next: next)])
        #expect(await Self.fault(Self.api(simulated)) == .malformed)
        #expect(simulated.requests.count == 1)
    }

    @Test func `whose pages do not end is at fault after some`() async {
        let simulated = SimulatedRevenueCatAPI()
        simulated.fail(
            with: (0..<1000).map {
                Self.list(
                    next: #""https://rc.example.com/v2/projects/proj1/x?starting_after=\#($0)""#
                )
            }
        )
        #expect(await Self.fault(Self.api(simulated)) == .malformed)
        #expect(simulated.requests.count == RevenueCatAPI.pageLimit)
    }

    @Test func `that refuses the key, or does not know the customer, says so`() async throws {
        let simulated = SimulatedRevenueCatAPI()
        for project in [nil, "proj1"] {
            let wrong = Self.api(simulated, projectID: project, key: "sk_other")
            #expect(await Self.fault(wrong) == .notPermitted)
        }
        #expect(await Self.fault(Self.api(simulated, projectID: "other")) == .notPermitted)
        #expect(await Self.fault(Self.api(simulated)) == .notFound)
        simulated.fail(with: [StoreResponse(status: 423)])
        #expect(await Self.fault(Self.api(simulated)) == .rejected)
    }

    @Test func `that is asked too often is asked again later`() async throws {
        let simulated = SimulatedRevenueCatAPI()
        simulated.set(try RevenueCatAnswerSample.subscriber(), ofSubscriber: "u1")
        let busy = StoreResponse(status: 429, headers: ["retry-after": "2"])
        simulated.fail(with: [busy, nil])
        #expect(await Self.fault(Self.api(simulated, projectID: nil)) == nil)
        #expect(simulated.requests.count == 3)
        simulated.fail(with: Array(repeating: busy, count: 4))
        #expect(await Self.fault(Self.api(simulated, projectID: nil)) == .rateLimited)
    }

    static let bodies = [
        "", "<html>Service Unavailable</html>", "[]", "{}", "{", #"{"subscriber":"#,
    ]

    @Test(arguments: bodies)
    func `that answers with something else is at fault`(_ text: String) async throws {
        let response = StoreResponse(status: 200, body: Array(text.utf8))
        for project in [nil, "proj1"] {
            let simulated = SimulatedRevenueCatAPI()
            simulated.fail(with: [response])
            #expect(await Self.fault(Self.api(simulated, projectID: project)) == .malformed)
        }
        // Beside a list too.
        let simulated = SimulatedRevenueCatAPI()
        simulated.set(subscriptions: [try RevenueCatAnswerSample.subscription()], of: "u1")
        let page =
            #"{"object":"list","items":["#
            + #"{"object":"subscription","id":"s","store":"app_store"}]}"#
        simulated.fail(with: [StoreResponse(status: 200, body: Array(page.utf8)), response])
        #expect(await Self.fault(Self.api(simulated)) == .malformed)
    }

    @Test(arguments: ["../x", "..", "$RCAnonymousID:1", "a/b", "a?b", "a#b", "ä", "%2e", " "])
    func `is asked for a customer as they are called`(_ name: String) async throws {
        let customer = try #require(CustomerID(name))
        for project in [nil, "proj1"] {
            let simulated = SimulatedRevenueCatAPI()
            simulated.set(try RevenueCatAnswerSample.subscriber(), ofSubscriber: customer)
            simulated.set(of: customer)
            #expect(await Self.fault(Self.api(simulated, projectID: project), of: customer) == nil)
        }
    }
}
