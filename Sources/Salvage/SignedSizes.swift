import EventLog

/// Compares a tree with signed checkpoints of it, as it grows.
struct SignedSizes {
    private var waiting: ArraySlice<Checkpoint>
    private var agrees = true
    private var confirmedSize: UInt64 = 0

    /// `checkpoints`: ascending, each size once.
    init(_ checkpoints: [Checkpoint]) {
        // What was signed before the first record is of no tree: there is no leaf to compare it after.
        waiting = checkpoints.drop { $0.size == 0 }
    }

    /// To be called after each leaf.
    mutating func compare(_ edge: TreeEdge) {
        guard let next = waiting.first, next.size <= edge.size else { return }
        if next.root == edge.root { confirmedSize = next.size } else { agrees = false }
        waiting.removeFirst()
    }

    /// What a checkpoint covers is confirmed; a tree that is another one than was signed is lost.
    func conclude(_ report: inout SalvageReport) {
        report.confirm(upTo: confirmedSize)
        if !agrees { report.isProven = false }
    }
}
