/// What an app says of a purchase flow, as the reports read it (rows 10.1 to 10.5, B7).
public struct FlowFact: Sendable, Hashable {
    /// One of the `flow` kinds.
    public var kind: EventKind
    /// Place in the log.
    public var sequence: UInt64
    /// The effective time (T1).
    public var time: Instant
    /// `flowId`: a tag that compares within one customer id.
    public var flow: UInt64
    /// `productId`.
    public var product: FactName?
    /// `platform`.
    public var platform: FactName?
    /// `errorCode`.
    public var errorCode: FactName?
    /// `experiment`: `EXPERIMENT/VARIANT`, or the experiment alone.
    public var experiment: FactName?
    /// `stages`.
    public var stages: [Stage] = []

    /// How long a part of the flow took.
    public struct Stage: Sendable, Hashable {
        /// Its name.
        public var name: FactName
        /// Its length.
        public var milliseconds: Int64

        /// Makes a stage.
        public init(name: FactName, milliseconds: Int64) {
            self.name = name
            self.milliseconds = milliseconds
        }
    }

    /// Makes a statement; the rest is set by name.
    public init(_ kind: EventKind, sequence: UInt64, time: Instant, flow: UInt64) {
        self.kind = kind
        self.sequence = sequence
        self.time = time
        self.flow = flow
    }

    /// Whether a kind is one of a flow.
    public static func reads(_ kind: EventKind) -> Bool {
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
