/// What an app says of a purchase flow, as the reports read it (rows 10.1 to 10.5, B7).
package struct FlowFact: Sendable, Hashable {
    /// One of the `flow` kinds.
    package var kind: EventKind
    /// Place in the log.
    package var sequence: UInt64
    /// The effective time (T1).
    package var time: Instant
    /// `flowId`: a tag that compares within one customer id.
    package var flow: UInt64
    /// `productId`.
    package var product: FactName?
    /// `platform`.
    package var platform: FactName?
    /// `errorCode`.
    package var errorCode: FactName?
    /// `experiment`: `EXPERIMENT/VARIANT`, or the experiment alone.
    package var experiment: FactName?
    /// `stages`.
    package var stages: [Stage] = []

    /// How long a part of the flow took.
    package struct Stage: Sendable, Hashable {
        /// Its name.
        package var name: FactName
        /// Its length.
        package var milliseconds: Int64

        /// Makes a stage.
        package init(name: FactName, milliseconds: Int64) {
            self.name = name
            self.milliseconds = milliseconds
        }
    }

    /// Makes a statement; the rest is set by name.
    package init(_ kind: EventKind, sequence: UInt64, time: Instant, flow: UInt64) {
        self.kind = kind
        self.sequence = sequence
        self.time = time
        self.flow = flow
    }

    /// Whether a kind is one of a flow.
    package static func reads(_ kind: EventKind) -> Bool {
        kind == .flowStarted || isEnd(kind)
    }

    /// Whether a kind ends a flow, if only for now.
    static func isEnd(_ kind: EventKind) -> Bool {
        switch kind {
        case .flowSucceeded, .flowFailed, .flowCancelled, .flowPending, .flowRestored: true
        default: false
        }
    }

    /// The order of effective time, ties by sequence.
    static func inTime(_ left: FlowFact, _ right: FlowFact) -> Bool {
        (left.time, left.sequence) < (right.time, right.sequence)
    }
}
