import Encodings
import EntitlementLedger
package import Entitlements
import LedgerAPI
import StoreSimulator

/// A ledger that lost some messages, beside one that lost none (rows 8.3, Z12).
extension ScenarioRun {
    /// The weeks that begin with a message of a store's: those in which something can be lost.
    package var weeks: [Range<Instant>] {
        played.messages.filter { $0.sender != nil }.map { message in
            message.at..<message.at.advanced(byMilliseconds: 7 * Instant.millisecondsPerDay)
        }
    }

    /// What customers have whenever it may change, by all that is known in the end.
    ///
    /// `lost`: what stores send then never comes, and once it is over they are asked; nil: everything comes
    /// at once, and nobody asks. `isFetched`: false: nobody asks for what was lost.
    package func states(
        losing lost: Range<Instant>? = nil,
        isFetched: Bool = true
    ) async throws -> [ScenarioState] {
        let clock = ScenarioClock()
        let stores = try SimulatedStores(keys, clock: { clock.now }, signedAt: { clock.now })
        let target = try target(of: stores, clock)
        // It is in memory alone.
        defer { try? target.ledger.close() }
        func pass(to time: Instant) {
            clock.pass(to: time)
            stores.set(played.accounts(at: clock.now))
        }
        var over = isFetched ? lost?.upperBound : nil
        for (number, message) in played.messages.enumerated() {
            if let end = over, message.at >= end {
                over = nil
                pass(to: end)
                _ = try await target.fetch(customers)
            }
            if message.sender != nil, lost?.contains(message.at) == true { continue }
            pass(to: message.at)
            try await target.take(message, number)
        }
        if let end = over {
            pass(to: end)
            _ = try await target.fetch(customers)
        }
        pass(to: scenario.end)
        return try customers.sorted().flatMap { customer in
            try instants.map { try ScenarioState(of: customer, at: $0, in: target.ledger) }
        }
    }

    /// Whatever a step or an expectation names, a minute later, and every five days.
    private var instants: [Instant] {
        let named =
            scenario.steps.flatMap { [$0.at, $0.until ?? $0.at] } + scenario.expectations.map(\.at)
        let days = stride(
            from: Scenario.start.milliseconds,
            to: scenario.end.milliseconds,
            by: Int64.Stride(5 * Instant.millisecondsPerDay)
        )
        let all =
            named + named.map { $0.advanced(byMilliseconds: 60_000) }
            + days.map { Instant(milliseconds: $0) }
        return Set(all).sorted()
    }
}

/// What a customer has at an instant: tier, features and purchases, without what tells when a store was asked.
package struct ScenarioState: Sendable, Hashable {
    package let customer: CustomerID
    package let at: Instant
    /// As `show` writes it.
    private let shown: JSONValue

    /// Whether tier and features are the same.
    package func hasAccess(of other: ScenarioState) -> Bool {
        ["tier", "features"].allSatisfy { shown[$0] == other.shown[$0] }
    }

    fileprivate init(of customer: CustomerID, at instant: Instant, in ledger: Ledger) throws {
        var state = try ledger.questions.show(
            CustomerQuestion(
                customer: customer,
                environment: .production,
                point: BitemporalPoint(at: instant, knownAt: .everything)
            )
        ).answer.state
        for place in state.purchases.indices {
            (state.purchases[place].isSynced, state.purchases[place].syncedAt) = (false, nil)
        }
        self.customer = customer
        at = instant
        let kept: Set<Name> = ["tier", "features", "purchases"]
        shown = .object(
            StateContent.fields.members(of: state).filter { kept.contains(Name($0.name)) }
        )
    }
}

extension ScenarioState: CustomStringConvertible {
    package var description: String { "\(customer) \(at): \(shown)" }
}
