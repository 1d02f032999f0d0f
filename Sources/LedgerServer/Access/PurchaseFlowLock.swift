package import EntitlementLedger
package import Entitlements
import Synchronization

/// Lets one purchase flow of a customer run at a time in each environment (row 2.2), under whichever of their
/// names it began (C2).
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
    /// `names`: all of the customer's, under the first of which it runs; links may be made while it does.
    ///
    /// Cost: O(1) for each name.
    ///
    /// - Precondition: there is a name.
    package func begin(
        _ flowID: String,
        of names: [CustomerID],
        in environment: StoreEnvironment,
        at now: Instant
    ) -> Outcome {
        let (owners, flow) = (Self.owners(names, environment), IdentityHash(kind: 0, flowID))
        return state.withLock { state in
            ageIfDue(&state, now)
            // Two may run where the link between their names was made meanwhile.
            var busy: Instant?
            for owner in owners {
                guard let running = state.flows[owner], isRunning(running, at: now) else {
                    continue
                }
                if running.id == flow { return .sameFlow(until: running.until) }
                busy = max(busy ?? running.until, running.until)
            }
            if let busy { return .busy(until: busy) }
            guard !state.flows.isFull else { return .full }
            let until = now.advanced(byMilliseconds: timeToLiveMilliseconds)
            state.flows.set(Flow(id: flow, until: until), for: owners[0])
            return .began(until: until)
        }
    }

    /// Ends a flow, however it went; false if that flow does not run.
    ///
    /// `names`: of the customer, under one of which it began.
    @discardableResult
    package func end(
        _ flowID: String,
        of names: [CustomerID],
        in environment: StoreEnvironment,
        at now: Instant
    ) -> Bool {
        let (owners, flow) = (Self.owners(names, environment), IdentityHash(kind: 0, flowID))
        return state.withLock { state in
            var hasRun = false
            for owner in owners {
                guard let running = state.flows[owner], running.id == flow else { continue }
                state.flows.remove(owner)
                hasRun = hasRun || isRunning(running, at: now)
            }
            return hasRun
        }
    }

    /// Goes on with what was recorded of flows before the server began, in the order of the log.
    ///
    /// `names`: all of a customer's; asked where a flow did not begin under the name under which it ended.
    ///
    /// - Throws: what `names` throws.
    package func goOn(
        from flows: [RecordedFlow],
        names: (CustomerID, StoreEnvironment) throws -> [CustomerID]
    ) rethrows {
        for flow in flows {
            let (id, environment, time) = (flow.flowID, flow.environment, flow.recordedAt)
            if flow.isStart {
                // One that another shuts out was recorded when it was not.
                _ = begin(id, of: [flow.customer], in: environment, at: time)
            } else if !end(id, of: [flow.customer], in: environment, at: time) {
                end(id, of: try names(flow.customer, environment), in: environment, at: time)
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

    private static func owners(
        _ names: [CustomerID],
        _ environment: StoreEnvironment
    ) -> [IdentityHash] {
        names.map { IdentityHash(kind: environment.rawValue, $0.text) }
    }
}
