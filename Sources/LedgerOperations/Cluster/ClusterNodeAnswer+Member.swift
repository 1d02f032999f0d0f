package import EventLog
package import LedgerAPI

extension ClusterNodeAnswer {
    /// A machine as the others know it.
    ///
    /// `size`: events that the cluster has. `seconds`: since it was read of.
    package init(_ member: ClusterMember, of size: UInt64, readAgo seconds: Int64 = 0) {
        // Fits: seconds of clocks of the day and of a process.
        let age = UInt64(max(0, member.age)) + UInt64(max(0, seconds))
        self.init(
            node: member.name,
            address: member.address,
            sequence: member.size,
            lag: size - min(size, member.size),
            generation: member.generation,
            seenSecondsAgo: age
        )
    }
}
