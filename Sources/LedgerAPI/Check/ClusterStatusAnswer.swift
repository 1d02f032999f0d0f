import Encodings

/// How a cluster stands: `cluster status`.
package struct ClusterStatusAnswer: Described {
    /// Size of the log.
    package var sequence: UInt64
    /// How much of it a leader was told is durable on a second machine.
    package var confirmed: UInt64
    /// Counts who led.
    package var term: UInt64
    /// Who leads, or led last; nil: nobody does, since one gave the lease up or none ever did.
    package var leader: String?
    /// Where that one is reached.
    package var leaderAddress: String?
    /// The machine whose directory the ledger went on in, alone; nil: the cluster stands.
    package var endedBy: String?
    /// The machines.
    package var nodes: [ClusterNodeAnswer]

    /// An answer.
    package init(
        sequence: UInt64,
        confirmed: UInt64,
        term: UInt64,
        leader: String?,
        leaderAddress: String?,
        endedBy: String?,
        nodes: [ClusterNodeAnswer]
    ) {
        self.sequence = sequence
        self.confirmed = confirmed
        self.term = term
        self.leader = leader
        self.leaderAddress = leaderAddress
        self.endedBy = endedBy
        self.nodes = nodes
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ClusterStatus",
        "How a cluster of machines stands",
        Self.init
    ) {
        Field("sequence", \.sequence, .count, "Size of the log")
        Field("confirmed", \.confirmed, .count, "How much of it its leader knows to be durable")
        Field("term", \.term, .count, "Counts who led")
        Field(
            "leader",
            \.leader,
            .orNull(.text),
            "Who leads, or led last; null where that one gave it up"
        )
        Field("leaderAddress", \.leaderAddress, .orNull(.text), "Where that one is reached")
        Field(
            "endedBy",
            \.endedBy,
            .orNull(.text),
            "The machine whose directory the ledger went on in, alone"
        )
        Field("nodes", \.nodes, .list(.object), "The machines that were there")
    }
}

/// A machine of a cluster.
package struct ClusterNodeAnswer: Described {
    /// Its name.
    package var node: String
    /// Where it is reached.
    package var address: String
    /// Events that it has.
    package var sequence: UInt64
    /// Events that it has not.
    package var lag: UInt64
    /// The generation of the vault's keys that it has.
    package var generation: UInt64
    /// Seconds since it said so.
    package var seenSecondsAgo: UInt64

    /// A machine.
    package init(
        node: String,
        address: String,
        sequence: UInt64,
        lag: UInt64,
        generation: UInt64,
        seenSecondsAgo: UInt64
    ) {
        self.node = node
        self.address = address
        self.sequence = sequence
        self.lag = lag
        self.generation = generation
        self.seenSecondsAgo = seenSecondsAgo
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ClusterNode", "A machine of a cluster", Self.init) {
        Field("node", \.node, .text, "Its name")
        Field("address", \.address, .text, "Where the others reach it")
        Field("sequence", \.sequence, .count, "Events that it has")
        Field("lag", \.lag, .count, "Events that it has not")
        Field("generation", \.generation, .count, "Which generation of the vault's keys it has")
        Field("seenSecondsAgo", \.seenSecondsAgo, .count, "Seconds since it said so")
    }
}
