package import EntitlementLedger
package import Entitlements
import Synchronization

/// Lets one purchase flow of a customer run at a time in each environment (row 2.2).
///
/// A flow that does not end expires, so that an app that died in mid-purchase shuts nobody out.
/// Flows are held in memory; a server that begins takes up those that the log says run.
package final class PurchaseFlowLock: Sendable {
    private let timeToLiveMilliseconds: Int64
    private let state: Mutex<State>

    /// How long a flow runs at most: ten minutes, time to sign in to a store and choose a card.
    package static let timeToLiveMilliseconds: Int64 = 600_000
    /// Flows of one time to live; both generations take about 20 MB.
    package static let flowLimit = 200_000

    private struct Flow {
        var id: IdentityHash
        var until: Instant
    }

    private struct State {
        var flows: Generations<IdentityHash, Flow>
        var agedAt = Instant(milliseconds: .min)
    }

    /// What became of a wish to begin.
    package enum Outcome: Hashable, Sendable {
        /// The flow runs until then.
        case began(until: Instant)
        /// That very flow runs already, until then: repeating the request changes nothing.
        case sameFlow(until: Instant)
        /// Another flow of the customer runs, at most until then.
        case busy(until: Instant)
        /// Too many flows run to hold one more: try again later.
        case full
    }

    /// Makes a lock.
    ///
    /// - Precondition: the time to live and the limit are positive.
    package init(
        timeToLiveMilliseconds: Int64 = PurchaseFlowLock.timeToLiveMilliseconds,
        flowLimit: Int = PurchaseFlowLock.flowLimit
    ) {
        precondition(timeToLiveMilliseconds > 0, "a flow lasts some time")
        precondition(flowLimit > 0, "there is room for a flow")
        self.timeToLiveMilliseconds = timeToLiveMilliseconds
        state = Mutex(State(flows: Generations(limit: flowLimit)))
    }

    /// Begins a flow unless another one of that customer runs.
    ///
    /// Cost: O(1).
    package func begin(
        _ flowID: String,
        of customer: CustomerID,
        in environment: StoreEnvironment,
        at now: Instant
    ) -> Outcome {
        let (owner, flow) = (Self.owner(customer, environment), IdentityHash(kind: 0, flowID))
        return state.withLock { state in
            ageIfDue(&state, now)
            if let running = state.flows[owner], isRunning(running, at: now) {
                return running.id == flow
                    ? .sameFlow(until: running.until) : .busy(until: running.until)
            }
            guard !state.flows.isFull else { return .full }
            let until = now.advanced(byMilliseconds: timeToLiveMilliseconds)
            state.flows.set(Flow(id: flow, until: until), for: owner)
            return .began(until: until)
        }
    }

    /// Ends a flow, however it went; false if that flow does not run.
    @discardableResult
    package func end(
        _ flowID: String,
        of customer: CustomerID,
        in environment: StoreEnvironment,
        at now: Instant
    ) -> Bool {
        let (owner, flow) = (Self.owner(customer, environment), IdentityHash(kind: 0, flowID))
        return state.withLock { state in
            guard let running = state.flows[owner], running.id == flow else { return false }
            state.flows.remove(owner)
            return isRunning(running, at: now)
        }
    }

    /// Goes on with what was recorded of flows before the server began, in the order of the log.
    package func goOn(from flows: [RecordedFlow]) {
        for flow in flows {
            if flow.isStart {
                // One that another shuts out was recorded when it was not.
                _ = begin(flow.flowID, of: flow.customer, in: flow.environment, at: flow.recordedAt)
            } else {
                end(flow.flowID, of: flow.customer, in: flow.environment, at: flow.recordedAt)
            }
        }
    }

    /// Flows held in memory, for tests of the bound.
    package var flowCount: Int { state.withLock { $0.flows.count } }

    /// A flow that would run longer than any can is one from before the clock was set back.
    private func isRunning(_ flow: Flow, at now: Instant) -> Bool {
        flow.until > now && flow.until <= now.advanced(byMilliseconds: timeToLiveMilliseconds)
    }

    /// What was old when it aged a time to live after the last has expired.
    private func ageIfDue(_ state: inout State, _ now: Instant) {
        if now < state.agedAt { state.agedAt = now }
        guard now >= state.agedAt.advanced(byMilliseconds: timeToLiveMilliseconds) else { return }
        state.flows.age()
        state.agedAt = now
    }

    private static func owner(
        _ customer: CustomerID,
        _ environment: StoreEnvironment
    ) -> IdentityHash {
        IdentityHash(kind: environment.rawValue, customer.text)
    }
}
