import Encodings
import Entitlements
import HTTPTypes
import Testing

@testable import LedgerServer

/// Customers who come to their own pages.
enum OwnWorld {
    static let alice = "alice-of-tests"
    static let bob = "bob-of-tests"

    /// A title and an id that would be markup, were they not escaped.
    static let markup = "<img src=x onerror=alert(1)>\"'&"

    /// Two plans of one tier, a feature by itself, and a donation (row PL1); the first plan has a title that
    /// would be markup.
    static func catalog(_ more: String = "") -> String {
        """
        {"tiers":["free","pro"],
         "features":[{"id":"export"},{"id":"chat","level":"free"},{"id":"bingo"}],
         "products":[
          {"id":"pro.year","kind":"auto_renewable","unlocks":{"tier":"pro"},
           "texts":{"en":{"title":"<b>Pro</b> Yearly"},"ja":{"title":"プロ年額"}}},
          {"id":"pro.month","kind":"auto_renewable","unlocks":{"tier":"pro"},
           "texts":{"en":{"title":"Pro Monthly","description":"All of it"}}},
          {"id":"bingo","kind":"non_consumable","unlocks":{"features":["bingo"]}},
          {"id":"coffee","kind":"consumable","unlocks":{}}],
         "offerings":[{"products":["pro.month","pro.year","bingo","coffee"]}]\(more)}
        """
    }

    /// Half of the customers see other offers (row B7).
    static let experiment = """
        ,"experiments":[{"id":"order","variants":[
          {"id":"as-is","weight":1},
          {"id":"coffee-first","weight":1,
           "overrides":{"offerings":[{"products":["coffee","pro.month"]}]}}]}]
        """

    /// A month that a customer bought ten days ago, with its owner.
    static func month(_ number: Int, of customer: String, _ more: String = "") -> [String] {
        let start = noon.plus(seconds: -10 * 86_400)
        let end = start.plus(seconds: 30 * 86_400)
        func event(_ name: String, _ type: String, _ subject: String, _ data: String) -> String {
            let subject = JSONValue.string(subject).description
            return #"{"specversion":"1.0","id":"\#(name)-\#(number)","source":"app_store","#
                + #""type":"\#(type)","subject":\#(subject),"time":"\#(start)","#
                + #""environment":"production","data":\#(data)}"#
        }
        let purchase = "app_store/70000\(number)"
        return [
            event(
                "bought",
                "purchase.completed",
                "purchase/" + purchase,
                #"{"transactionId":"70000\#(number)","productId":"pro.month","#
                    + #""productKind":"auto_renewable","expiresAt":"\#(end)","#
                    + #""priceMicros":600000000,"currencyCode":"JPY","storefront":"JPN"\#(more)}"#
            ),
            event(
                "passed",
                "verification.passed",
                "purchase/" + purchase,
                #"{"transactionId":"70000\#(number)","method":"app_store_jws"}"#
            ),
            event(
                "claimed",
                "customer.claimed",
                "customer/" + customer,
                #"{"purchase":"\#(purchase)"}"#
            ),
        ]
    }

    static func with(
        _ setup: TestServer.Setup = TestServer.Setup(),
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.with(setup) { server in
            let published = try await server.post("/v1/catalog", Self.catalog(), as: .admin)
            #expect(published.status == 200 || published.status == 201, "\(published.body)")
            try await body(server)
        }
    }
}

extension TestServer {
    /// Hands in events.
    func hand(in events: [String]) async throws {
        let answer = try await post("/v1/events", events.joined(separator: "\n"), as: .admin)
        let outcomes = (answer.json["items"]?.array ?? []).compactMap { $0["outcome"]?.string }
        #expect(outcomes.allSatisfy { $0 == "appended" } && !outcomes.isEmpty, "\(answer.body)")
    }

    /// The ticket of a customer's links.
    func ticket(
        of customer: String,
        as scope: Scope = .write,
        _ query: String = ""
    ) async throws -> String {
        let answer = try await post(
            "/v1/customers/\(customer.pathSegment)/page-links\(query)",
            "",
            as: scope
        )
        let path = try #require(answer.json["links"]?.array?.first?["path"]?.string, "\(answer)")
        return String(try #require(path.split(separator: "=").last))
    }

    /// The cookie of a customer who followed a link.
    func entered(_ customer: String) async throws -> String {
        let ticket = try await ticket(of: customer)
        let answer = try await send(.get, "/history?ticket=" + ticket)
        #expect(answer.status == 303, "\(answer)")
        let cookie = try #require(answer.headers[.setCookie])
        return String(cookie.prefix { $0 != ";" })
    }

    /// A page of whoever has a cookie.
    func page(_ path: String, cookie: String, language: String = "en") async throws -> TestAnswer {
        try await send(.get, path, headers: [.cookie: cookie, .acceptLanguage: language])
    }

    /// Sends a form of whoever has a cookie, as a page of theirs would.
    func submit(
        _ path: String,
        cookie: String,
        _ fields: String = "",
        token: String? = nil,
        headers: HTTPFields = [:]
    ) async throws -> TestAnswer {
        var headers = headers
        headers[.cookie] = cookie
        headers[.contentType] = "application/x-www-form-urlencoded"
        let secret = cookie.split(separator: "=", maxSplits: 1).last.map(String.init) ?? ""
        let session = service.access.sessions.session(secret, at: clock.now)
        let token = token ?? session?.formToken ?? ""
        let body = "formToken=\(token)" + (fields.isEmpty ? "" : "&" + fields)
        return try await send(.post, path, headers: headers, body: body)
    }
}
