package import Encodings
package import Entitlements

/// Scenarios beside one another, at other times than their own.
extension Scenario {
    /// The same from another instant on, with accounts and customers that no other number's have.
    ///
    /// `number`: 0 to 999.
    package func placed(_ number: Int, from start: Instant) -> Scenario {
        // Fits: instants of scenarios lie a hundred thousand days behind their beginning at most.
        let shift = start.milliseconds - Self.start.milliseconds
        var placed = self
        for index in placed.steps.indices {
            placed.steps[index].move(shift, number)
        }
        for index in placed.expectations.indices {
            placed.expectations[index].move(shift, number)
        }
        return placed
    }

    /// When the scenarios begin whose whole time, their expectations included, is to be over by an
    /// instant: at the start of a day of UTC.
    package static func start(of scenarios: [Scenario], endingBy now: Instant) -> Instant {
        let length = scenarios.map { $0.end.milliseconds - start.milliseconds }.max() ?? 0
        let latest = now.milliseconds - length
        return Instant(milliseconds: latest - latest % Instant.millisecondsPerDay)
    }

    /// What must hold, a line each, for whoever asks another backend.
    package var expectationLines: [JSONValue] {
        expectations.enumerated().map { index, expected in
            .members([
                "scenario": .string(id), "expectation": .integer(Int64(index)),
                "customer": .string(expected.customer.text), "at": .string(expected.at.description),
                "known": .optional(expected.known?.description), "tier": .string(expected.tier),
                "status": .optional(expected.status), "fetched": .bool(expected.isFetched),
            ])
        }
    }
}

extension ScenarioStep {
    fileprivate mutating func move(_ shift: Int64, _ number: Int) {
        at = at.advanced(byMilliseconds: shift)
        until = until?.advanced(byMilliseconds: shift)
        // Fits: both are small numbers.
        account += number * Self.accountLimit
        // RevenueCat always names somebody.
        if store == .revenueCat { customer = customer ?? ScenarioCustomers.usual }
        customer = customer.map { ScenarioCustomers.placed($0, number) }
    }

    /// Accounts of a scenario, and one.
    private static let accountLimit = 100
}

extension ScenarioExpectation {
    fileprivate mutating func move(_ shift: Int64, _ number: Int) {
        at = at.advanced(byMilliseconds: shift)
        known = known?.advanced(byMilliseconds: shift)
        customer = ScenarioCustomers.placed(customer, number)
    }
}
