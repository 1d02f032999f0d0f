import Encodings

/// How one machine stands in its cluster.
package struct ClusterStandingAnswer: Described {
    /// Its name.
    package var node: String
    /// Whether it leads.
    package var isLeading: Bool
    /// Counts who led; nil: it does not know.
    package var term: UInt64?
    /// Who leads as far as it knows; nil: nobody.
    package var leader: String?
    /// Where that one is reached.
    package var leaderAddress: String?
    /// Events that it has.
    package var sequence: UInt64
    /// Events that the cluster has and it has not.
    package var lag: UInt64
    /// The generation of the vault's keys that the cluster has; nil: it does not know.
    package var generation: UInt64?
    /// Milliseconds since it heard of the cluster's database; nil: never.
    package var contactMilliseconds: UInt64?
    /// A word for what keeps it from following, or from leading where nobody does; nil: nothing.
    package var fault: String?
    /// The machines, as it read of them last.
    package var nodes: [ClusterNodeAnswer]

    /// An answer.
    package init(
        node: String,
        isLeading: Bool,
        term: UInt64?,
        leader: String?,
        leaderAddress: String?,
        sequence: UInt64,
        lag: UInt64,
        generation: UInt64?,
        contactMilliseconds: UInt64?,
        fault: String?,
        nodes: [ClusterNodeAnswer]
    ) {
        self.node = node
        self.isLeading = isLeading
        self.term = term
        self.leader = leader
        self.leaderAddress = leaderAddress
        self.sequence = sequence
        self.lag = lag
        self.generation = generation
        self.contactMilliseconds = contactMilliseconds
        self.fault = fault
        self.nodes = nodes
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ClusterStanding",
        "How one machine stands in its cluster",
        Self.init
    ) {
        Field("node", \.node, .text, "Its name")
        Field("leading", \.isLeading, .boolean, "Whether it leads")
        Field("term", \.term, .orNull(.count), "Counts who led")
        Field("leader", \.leader, .orNull(.text), "Who leads as far as it knows")
        Field("leaderAddress", \.leaderAddress, .orNull(.text), "Where that one is reached")
        Field("sequence", \.sequence, .count, "Events that it has")
        Field("lag", \.lag, .count, "Events that the cluster has and it has not")
        Field(
            "generation",
            \.generation,
            .orNull(.count),
            "Which generation of the vault's keys the cluster has"
        )
        Field(
            "contactMilliseconds",
            \.contactMilliseconds,
            .orNull(.count),
            "Since it heard of the cluster's database"
        )
        Field("fault", \.fault, .orNull(.text), "A word for what keeps it from following")
        Field("nodes", \.nodes, .list(.object), "The machines, as it read of them last")
    }
}
