import Encodings
import Entitlements
import Stores
import Testing

@testable import Scenarios

/// What of scenarios is sent to a backend, and what of its answers is taken for success (row Z21; Stores,
/// rule 10).
struct `What is sent of a scenario` {
    private static let keys = Result { try ScenarioRun.keys() }

    /// Statuses that a store sends nothing more after.
    private static let taken: [(ScenarioStore, [Int])] = [
        (.appStore, Array(200...206)), (.playStore, [102, 200, 201, 202, 204]),
        (.revenueCat, [200]),
    ]

    @Test(arguments: taken)
    func `is taken where its store says so`(_ store: ScenarioStore, _ statuses: [Int]) {
        let found = (100..<600).filter { status in
            ScenarioFeed.Attempt(
                at: Scenario.start,
                scenario: "a",
                store: store,
                number: 1,
                response: StoreResponse(status: status)
            ).isTaken
        }
        #expect(found == statuses)
    }

    // RevenueCat always names somebody: one of another scenario's customers, where nobody is named.
    @Test func `is of its own customers`() throws {
        let text = """
            {"id":"a","title":"t","store":"revenuecat",
             "steps":[{"at":"0d","do":"buy","product":"month"}],
             "expect":[{"at":"1d","tier":"pro"}]}
            """
        let scenario = try Scenario(parsing: Array(text.utf8)).placed(1, from: Scenario.start)
        let messages = try ScenarioMessages(scenario, Self.keys.get()).messages
        let bodies = messages.compactMap { message -> String? in
            guard case .webhook(let body) = message.content else { return nil }
            return String(decoding: body, as: UTF8.self)
        }
        let named = bodies.map { $0.contains("\"5ce0a210-0000-4000-8001-616c69636500\"") }
        #expect(named == [true])
    }

    // Of long names the first six bytes were all that counted.
    @Test func `names customers by the whole of their names`() throws {
        let names = ["alice", "customer_a", "customer_b", "custom"]
        let customers = try names.map { name in
            try #require(ScenarioCustomers.customer(.string(name)))
        }
        #expect(Set(customers).count == names.count)
        #expect(customers[0] == ScenarioCustomers.usual)
    }
}
