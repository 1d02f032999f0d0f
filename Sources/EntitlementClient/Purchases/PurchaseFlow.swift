public import Entitlements
public import LedgerAPI
import Synchronization

/// One purchase from its confirmation until it is recorded (rows 2.1 to 2.4).
public struct PurchaseFlow: Sendable {
    /// The flow's id, under which the server notes it.
    public let id: String
    private let log: FlowLog

    /// How far a purchase is.
    public enum State: Sendable, Hashable {
        /// The app asks whether it is meant.
        case confirming
        /// The store's sheet is open.
        case inStore
        /// The store has answered: what its own library verified goes on.
        case verifying
        /// It is kept, and the server is told.
        case recording
        /// It is bought: its features are open. `isRecorded`: the server knows; else it is told as
        /// soon as it is reached.
        case done(isRecorded: Bool)
        /// The customer thought better of it: nothing was bought (row 2.4).
        case cancelled
        /// Somebody else has to agree: it may come later by itself.
        case pending
        /// It did not work.
        case failed(ServiceError)

        /// Whether nothing comes behind it.
        public var isEnd: Bool {
            switch self {
            case .confirming, .inStore, .verifying, .recording: false
            case .done, .cancelled, .pending, .failed: true
            }
        }
    }

    /// A state and when it began (row 10.3).
    public struct Step: Sendable, Hashable {
        /// The state.
        public let state: State
        /// When it began.
        public let at: Instant
    }

    init(_ log: FlowLog) { (id, self.log) = (log.id, log) }

    /// Each step so far, then those that come; it ends with the flow.
    ///
    /// Each call makes a stream of its own.
    public var steps: AsyncStream<Step> { log.stream() }

    /// Waits for the flow's end.
    public func end() async -> State {
        var last = State.confirming
        for await step in steps { last = step.state }
        return last
    }
}

/// The steps of a flow as they come.
final class FlowLog: Sendable {
    let id: String
    let productID: String
    /// What led to it; nil: nothing that is compared.
    let experiment: String?
    private let now: @Sendable () -> Instant
    private let state = Mutex(State())

    private struct State {
        var steps: [PurchaseFlow.Step] = []
        /// When the server said that it is recorded; nil: it has not.
        var recordedAt: Instant?
        var listeners: [AsyncStream<PurchaseFlow.Step>.Continuation] = []
    }

    init(
        id: String,
        productID: String,
        experiment: String?,
        now: @escaping @Sendable () -> Instant
    ) {
        (self.id, self.productID, self.experiment, self.now) = (id, productID, experiment, now)
    }

    /// Notes a step; none comes behind an end.
    func note(_ next: PurchaseFlow.State) {
        let step = PurchaseFlow.Step(state: next, at: now())
        let listeners = state.withLock { state in
            guard state.steps.last?.state.isEnd != true else {
                return [AsyncStream<PurchaseFlow.Step>.Continuation]()
            }
            state.steps.append(step)
            return state.listeners
        }
        for listener in listeners {
            listener.yield(step)
            if next.isEnd { listener.finish() }
        }
    }

    func stream() -> AsyncStream<PurchaseFlow.Step> {
        let (stream, listener) = AsyncStream.makeStream(of: PurchaseFlow.Step.self)
        state.withLock { state in
            for step in state.steps { listener.yield(step) }
            if state.steps.last?.state.isEnd == true {
                listener.finish()
            } else {
                state.listeners.append(listener)
            }
        }
        return stream
    }

    /// Notes when the server said that it is recorded: the flow ends behind what that opens.
    func noteRecorded(at instant: Instant) { state.withLock { $0.recordedAt = instant } }

    /// Milliseconds that the stages took, by the names under which the server sums them (row 10.3).
    ///
    /// What is not recorded has no time of recording.
    var stages: [(name: String, milliseconds: Int64)] {
        let (steps, recordedAt) = state.withLock { ($0.steps, $0.recordedAt) }
        return zip(steps, steps.dropFirst()).compactMap { step, next in
            let end = step.state == .recording ? recordedAt : next.at
            guard let name = step.state.stage, let end else { return nil }
            // Fits: two instants of one purchase; a clock that was set meanwhile gives nothing.
            return (name, max(0, end.milliseconds &- step.at.milliseconds))
        }
    }
}

extension PurchaseFlow.State {
    /// The name of the stage whose time is measured; nil: it is none.
    fileprivate var stage: String? {
        switch self {
        case .inStore: "store"
        case .verifying: "verification"
        case .recording: "recording"
        case .confirming, .done, .cancelled, .pending, .failed: nil
        }
    }
}
