import Encodings
import Entitlements
import HTTPTypes
import ModelSupport
import Presentation
import Synchronization
import Testing

@testable import LedgerServer

/// The page of a simulated store: for who may all, and only where one stands beside the server (Z7).
struct `The page of a simulated store` {
    /// What forms made it do.
    private final class Desk: SimulatedStoreDesk {
        let clock: @Sendable () -> Instant
        private let state = Mutex((done: [String](), isRefusing: false))
        /// What turning it does to the time.
        private let turned: Mutex<(@Sendable (Int64) -> Void)?> = Mutex(nil)

        private static let customer: CustomerID = "made-up"

        init(clock: @escaping @Sendable () -> Instant) { self.clock = clock }

        var done: [String] { state.withLock(\.done) }

        func refuse() { state.withLock { $0.isRefusing = true } }

        func whenTurned(_ body: @escaping @Sendable (Int64) -> Void) {
            turned.withLock { $0 = body }
        }

        private func note(_ what: String) -> Bool {
            state.withLock { state in
                guard !state.isRefusing else { return false }
                state.done.append(what)
                return true
            }
        }

        func state(of customer: CustomerID?, limit: Int) -> SimulatorPage.State {
            SimulatorPage.State(
                now: clock(),
                ahead: 0,
                products: ["pro.month"],
                purchases: SimulatorPage.Standing.allCases.prefix(limit).map { standing in
                    SimulatorPage.Purchase(
                        customer: customer ?? Self.customer,
                        id: "2-" + standing.rawValue,
                        product: "pro.month",
                        standing: standing,
                        end: clock()
                    )
                },
                purchaseCount: 1000,
                told: [
                    SimulatorPage.Told(
                        at: clock(),
                        customer: Self.customer,
                        what: "DID_RENEW",
                        outcome: "appended",
                        sequence: 0
                    )
                ]
            )
        }

        func buy(_ product: String, for customer: CustomerID, telling address: String) -> Bool {
            note("buy \(product) for \(customer.text) at \(address)")
        }

        func take(
            _ step: SimulatorPage.Step,
            to purchase: String,
            telling address: String
        ) -> Bool {
            note("\(step.rawValue) \(purchase) at \(address)")
        }

        func turn(by milliseconds: Int64, telling address: String) {
            turned.withLock(\.self)?(milliseconds)
        }
    }

    private static func with(
        _ body: @escaping @Sendable (TestServer, Desk) async throws -> Void
    ) async throws {
        var setup = TestServer.Setup()
        setup.adjust = { $0.simulator = Desk(clock: $0.clock) }
        try await TestServer.with(setup) { server in
            server.service.address = "http://127.0.0.1:9"
            try await body(server, try #require(server.service.simulator as? Desk))
        }
    }

    private static let page = "/console/simulator"

    /// Forms, what they send, and what comes of it.
    private static let forms: [(path: String, fields: [(String, String)], done: String)] = [
        (
            "/buy", [("customer", "made-up"), ("product", "pro.month")],
            "buy pro.month for made-up at http://127.0.0.1:9"
        ),
        (
            "/step", [("purchase", "2-grace"), ("step", "end_grace")],
            "end_grace 2-grace at http://127.0.0.1:9"
        ),
    ]

    @Test func `stands nowhere in a server of real customers`() async throws {
        try await TestServer.with { server in
            let visitor = try PageVisitor(server, with: .admin)
            #expect(try await !visitor.get("/console").body.contains(Self.page))
            for form in ["", ".json", "/buy", "/step", "/clock"] {
                #expect(try await visitor.get(Self.page + form).status == 404)
                #expect(try await visitor.post(Self.page + form, []).status == 404)
            }
        }
        // The control: beside a simulated store it does.
        try await Self.with { server, _ in
            let visitor = try PageVisitor(server, with: .admin)
            #expect(try await visitor.get("/console").body.contains(Self.page))
            let answer = try await visitor.get(Self.page)
            #expect(answer.status == 200)
            for step in SimulatorPage.Step.allCases {
                #expect(answer.body.contains("value=\"\(step.rawValue)\""))
            }
            #expect(answer.body.contains("993 more"))
            #expect(try await visitor.get(Self.page + ".json").json["told"]?.array?.count == 1)
        }
    }

    @Test(arguments: Scope.allCases)
    func `is for who may all`(scope: Scope) async throws {
        try await Self.with { server, desk in
            let visitor = try PageVisitor(server, with: scope)
            let mayAll = scope == .admin
            #expect(try await visitor.get(Self.page).status == (mayAll ? 200 : 403))
            let key = server.keys[scope]
            let asked = try await server.send(.get, Self.page, credential: key)
            #expect(asked.status == (mayAll ? 200 : 403))
            for form in Self.forms {
                let answer = try await visitor.post(Self.page + form.path, form.fields)
                #expect(answer.status == (mayAll ? 303 : 403))
            }
            #expect(desk.done == (mayAll ? Self.forms.map(\.done) : []))
        }
    }

    @Test func `does nothing for a form of somebody else's, or that makes no sense`() async throws {
        try await Self.with { server, desk in
            let visitor = try PageVisitor(server, with: .admin)
            for form in Self.forms {
                let foreign = try await visitor.post(
                    Self.page + form.path,
                    form.fields,
                    token: "another"
                )
                #expect(foreign.status == 403)
                let without = try await server.send(.post, Self.page + form.path, body: "")
                #expect(without.status == 401)
            }
            let nonsense: [(String, [(String, String)])] = [
                ("/buy", [("customer", ""), ("product", "pro.month")]),
                ("/step", [("purchase", "2-grace"), ("step", "explode")]),
                ("/clock", [("ahead", "-1")]), ("/clock", [("ahead", "9223372036854775807")]),
            ]
            for (path, fields) in nonsense {
                let answer = try await visitor.post(Self.page + path, fields)
                #expect((400..<423).contains(answer.status), "\(path) \(answer.status)")
            }
            desk.refuse()
            let refused = try await visitor.post(Self.page + "/step", Self.forms[1].fields)
            #expect(refused.status == 409)
            #expect(desk.done == [])
        }
    }

    @Test func `lets whoever turns the clock stay signed in`() async throws {
        try await Self.with { server, desk in
            let clock = server.clock
            desk.whenTurned { span in
                clock.now = clock.now.advanced(byMilliseconds: span)
            }
            let (visitor, other) = (
                try PageVisitor(server, with: .admin), try PageVisitor(server, with: .admin)
            )
            let week = 7 * Instant.millisecondsPerDay
            let answer = try await visitor.post(Self.page + "/clock", [("ahead", String(week))])
            #expect(answer.status == 303)
            #expect(try await visitor.get(Self.page).status == 200)
            // The form of another tab still counts.
            let again = try await visitor.post(Self.page + "/clock", [("ahead", String(week))])
            #expect(again.status == 303)
            // The control: a week is more than a session lasts.
            #expect(try await other.get(Self.page).status == 303)
        }
    }
}
