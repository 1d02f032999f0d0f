import Encodings
import EntitlementLedger
package import Entitlements
import EventLog
import LedgerAPI
import LedgerOperations
package import StoreSimulator
import Stores

/// Plays a scenario against a ledger in memory, and holds what customers have against what they are
/// expected to.
package struct ScenarioRun {
    let scenario: Scenario
    let played: ScenarioMessages
    let keys: SimulatedKeys

    /// Plays the steps once; deliveries come after.
    ///
    /// `forger`: signs what is forged; nil: somebody whom nobody trusts.
    ///
    /// - Throws: `InputFault` for a step about what is not there.
    package init(
        _ scenario: Scenario,
        keys: SimulatedKeys,
        forger: SigningAuthority? = nil
    ) throws {
        self.scenario = scenario
        self.keys = keys
        played = try ScenarioMessages(scenario, keys, forger: forger)
    }

    /// Certificates that hold ten years before and after an instant.
    package static func authority(
        around instant: Instant = Scenario.start
    ) throws -> SigningAuthority {
        try SigningAuthority(validity: validity(around: instant))
    }

    /// Keys of all stores, with such certificates.
    package static func keys(around instant: Instant = Scenario.start) throws -> SimulatedKeys {
        try SimulatedKeys(validity: validity(around: instant))
    }

    private static func validity(around instant: Instant) -> Range<Instant> {
        let years = 3650 * Instant.millisecondsPerDay
        return instant.advanced(
            byMilliseconds: -years
        )..<instant.advanced(byMilliseconds: years)
    }

    /// Delivers the messages; what was lost is fetched in the end.
    ///
    /// `isFetched`: false: nobody asks for what was lost. `changing`: plants a fault in what a message comes
    /// to.
    ///
    /// - Returns: what does not hold; nothing: all does.
    package func run(
        _ delivery: ScenarioDelivery,
        isFetched: Bool = true,
        changing: (@Sendable (Submission) -> Submission)? = nil
    ) async throws -> [ScenarioFailure] {
        let clock = ScenarioClock()
        let stores = try SimulatedStores(keys, clock: { clock.now }, signedAt: { clock.now })
        let target = try target(of: stores, clock, changing)
        // It is in memory alone.
        defer { try? target.ledger.close() }
        var outage = delivery.outage(of: played.messages)
        for (number, delivery) in delivery.deliveries(of: played.messages).enumerated() {
            if let stretch = outage, delivery.at >= stretch.lowerBound {
                outage = nil
                try await passOver(stretch, stores, target, clock)
            }
            clock.pass(to: delivery.at)
            stores.set(played.accounts(at: clock.now))
            try await target.take(delivery.message, number)
        }
        if delivery.isLossy, isFetched {
            // The App Store tells of half a year.
            clock.pass(to: scenario.dayAfterLastStep)
            stores.set(played.accounts(at: clock.now))
            _ = try await target.fetch(customers)
        }
        clock.pass(to: scenario.end)
        return try scenario.failures(in: target.ledger, after: delivery)
    }

    /// Whoever asks meanwhile is told nothing, and nothing comes of it (P11).
    private func passOver(
        _ outage: Range<Instant>,
        _ stores: SimulatedStores,
        _ target: ScenarioLedger,
        _ clock: ScenarioClock
    ) async throws {
        clock.pass(to: outage.lowerBound)
        stores.isOut = true
        _ = try await target.fetch(customers)
        stores.isOut = false
        clock.pass(to: outage.upperBound)
    }

    /// A ledger that is told, and asks the stores that tell.
    func target(
        of stores: SimulatedStores,
        _ clock: ScenarioClock,
        _ change: ScenarioLedger.Change? = nil
    ) throws -> ScenarioLedger {
        try ScenarioLedger(
            stores,
            policy: scenario.policy,
            askingOf: Set(scenario.steps.map(\.store)),
            clock: clock,
            change: change
        )
    }

    var customers: Set<CustomerID> {
        Set(scenario.expectations.map(\.customer) + scenario.steps.compactMap(\.customer))
    }
}
