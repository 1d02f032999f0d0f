import Entitlements
import Scenarios
import Testing

/// What is left of a week whose messages were lost, once the stores were asked (rows 6.2, 8.3, Z12).
struct `A scenario that lost a week` {
    private static let keys = Result { try ScenarioRun.keys() }

    /// What is otherwise than where nothing was lost: before the week was over, and from then on.
    private struct Differences {
        var then: [String] = []
        var later: [String] = []
        /// Those of tier or features, whenever.
        var access: [String] = []

        /// Of each week that a message was sent in.
        init(in run: ScenarioRun, isFetched: Bool = true) async throws {
            let whole = try await run.states()
            for week in run.weeks {
                let left = try await run.states(losing: week, isFetched: isFetched)
                for (state, other) in zip(whole, left) where state != other {
                    let said = "\(other), where nothing was lost \(state)"
                    if state.at < week.upperBound { then.append(said) } else { later.append(said) }
                    if !other.hasAccess(of: state) { access.append(said) }
                }
            }
        }
    }

    @Test(arguments: `A scenario`.files)
    func `is as one that lost none after a sync, but for what it says`(_ file: String) async throws
    {
        let scenario = try `A scenario`.scenario(file)
        let run = try ScenarioRun(scenario, keys: Self.keys.get())
        let differences = try await Differences(in: run)
        #expect(
            differences.then.isEmpty == (scenario.untold.then == nil),
            "\(differences.then.first ?? "nothing differs")"
        )
        #expect(
            differences.later.isEmpty == (scenario.untold.later == nil),
            "\(differences.later.first ?? "nothing differs")"
        )
        #expect(
            differences.access.isEmpty == !scenario.untold.isOfAccess,
            "\(differences.access.first ?? "nothing differs")"
        )
    }

    // the control: what nobody asks for is missing for good
    @Test func `is otherwise for good where nobody asks`() async throws {
        let scenario = try `A scenario`.scenario("renewal_chain.json")
        let run = try ScenarioRun(scenario, keys: Self.keys.get())
        #expect(try await !Differences(in: run, isFetched: false).later.isEmpty)
    }
}
