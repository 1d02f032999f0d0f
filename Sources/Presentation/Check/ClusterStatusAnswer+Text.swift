package import LedgerAPI

extension ClusterStatusAnswer {
    /// How it stands, for people: a line for each machine.
    package var textLines: [String] {
        let led =
            endedBy.map { "ended: it goes on alone in the directory of \($0)" }
            ?? leader.map { "led by \($0) at \(leaderAddress ?? "-")" } ?? "led by nobody"
        return ["\(sequence) events, term \(term), \(led)"]
            + nodes.map { node in
                "\(node.node)  \(node.address)  \(node.sequence) events, \(node.lag) behind, "
                    + "seen \(node.seenSecondsAgo) s ago"
            }
    }
}
