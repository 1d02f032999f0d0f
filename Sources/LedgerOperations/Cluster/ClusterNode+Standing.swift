import Entitlements
package import EventLog
import LMDBStorage
import Synchronization

extension ClusterNode {
    /// How a node stands in its cluster.
    package struct Standing: Sendable, Equatable {
        /// This node.
        package var node: String
        /// Whether it leads.
        package var isLeading: Bool
        /// The term; nil: the cluster's row was never read.
        package var term: UInt64?
        /// Who leads as far as is known; nil: nobody.
        package var leader: String?
        /// Where that one is reached; nil: nobody leads.
        package var leaderAddress: String?
        /// Events that this node has.
        package var size: UInt64
        /// Events that the cluster has, as it was read last.
        package var clusterSize: UInt64
        /// The generation of the vault's keys that the cluster has; nil: its row was never read.
        package var generation: UInt64?
        /// Milliseconds since the cluster's database answered with its row; nil: never.
        package var contactAge: Int64?
        /// A word for what keeps it from following, or from leading where nobody does; nil: nothing.
        package var fault: String?
        /// The machines of the cluster, as they were read of last.
        package var members: [ClusterMember]
        /// Seconds since they were read of.
        package var membersAge: Int64

        /// Events that the cluster has and this node does not.
        package var lag: UInt64 { clusterSize - min(size, clusterSize) }
    }

    /// How it stands now.
    ///
    /// - Throws: what its log throws.
    package func standing() throws -> Standing {
        let size = try open.directory.log.end().size
        let isLeading = isLeading
        let now = now
        return state.withLock { state in
            let lease = state.row?.lease
            let isLed = lease.map { !$0.node.isEmpty && !$0.isLast } ?? false
            return Standing(
                node: name,
                isLeading: isLeading,
                term: lease?.leadership.term,
                leader: isLeading ? name : (isLed ? lease?.node : nil),
                leaderAddress: isLeading ? address : (isLed ? lease?.address : nil),
                size: size,
                clusterSize: max(state.row?.end.size ?? 0, isLeading ? size : 0),
                generation: state.row?.end.generation,
                contactAge: state.heardAt.map { max(0, now - $0) },
                fault: lease?.isLast == true ? Self.ended : state.fault,
                members: state.members.all,
                membersAge: max(0, now - state.members.readAt) / 1000
            )
        }
    }

    /// Seconds since this node had everything, where that is longer ago than who follows needs as a rule: an answer
    /// of it is old then, and says so (row Z17); nil: it has it.
    ///
    /// Where it never had since it began, since its last event.
    package var answerAge: Int64? {
        guard let wholeAt = state.withLock(\.wholeAt) else {
            let end = try? open.directory.log.end()  // What cannot be read is as old as can be.
            // Fits: both are of this age.
            return max(0, clock().milliseconds - (end?.lastRecordedAt ?? 0)) / 1000
        }
        let age = now - wholeAt
        return age >= LeaseWatch.duration ? age / 1000 : nil
    }

    /// A word for what keeps it from following, or from leading where nobody does; nil: nothing.
    package var fault: String? { state.withLock(\.fault) }

    /// The word for a cluster whose ledger went on elsewhere.
    private static let ended = "ended"

    /// Whether the ledger went on elsewhere, so that here it is only read.
    package var hasEnded: Bool { state.withLock { $0.row?.lease.isLast == true } }

    /// The term in which it leads; nil: it does not.
    package var leadingTerm: UInt64? {
        guard let leader = log.leading, leader.isLeading else { return nil }
        return leader.announcement.leadership.term
    }

    /// Where a call that appends is passed on to, without a slash at its end; nil: this node leads, or it is not known who does.
    package var leaderToAsk: String? {
        guard !isLeading, let lease = state.withLock(\.row)?.lease, !lease.address.isEmpty,
            lease.node != name
        else { return nil }
        return String(lease.address.reversed().drop { $0 == "/" }.reversed())
    }
}
