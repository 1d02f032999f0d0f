import Dispatch
import EventLog
import Synchronization

/// One bundle after another, each apart from the others.
extension LogSalvage {
    struct Settled: Sendable {
        var first: UInt64
        var places: [PlaceFinding]
    }

    func settle(_ sequences: Range<UInt64>) throws -> [Settled] {
        let starts = stride(
            from: sequences.lowerBound,
            to: sequences.upperBound,
            by: Int(Bundle.recordCount)
        )
        let all = Array(starts)
        let settled = Mutex<[Settled]>(all.map { Settled(first: $0, places: []) })
        let fault = Mutex<(any Error)?>(nil)
        DispatchQueue.concurrentPerform(iterations: all.count) { number in
            do {
                let width = min(Bundle.recordCount, end.size - all[number])
                let places = try settle(first: all[number], width: Int(width))
                settled.withLock { $0[number].places = places }
            } catch {
                fault.withLock { $0 = error }
            }
        }
        if let fault = fault.withLock({ $0 }) { throw fault }
        return settled.withLock { $0 }
    }

    private func settle(first: UInt64, width: Int) throws -> [PlaceFinding] {
        let bundle = first / Bundle.recordCount
        let isFull = width == Int(Bundle.recordCount)
        let known = try witness.leaves(ofBundle: bundle, width: width)
        var finding = BundleFinding(first: first, width: width, known: known)
        try finding.add(from: original, isSupplied: false)
        if known == nil, isFull, finding.isUnsettled, let sample = finding.sample,
            let tile = try original.unnamedTile(holding: sample.leaf, at: sample.place),
            witness.agrees(tile, bundle: bundle)
        {
            finding = BundleFinding(first: first, width: width, known: tile)
            try finding.add(from: original, isSupplied: false)
        }
        if finding.isUnsettled {
            for copy in copies { try finding.add(from: copy, isSupplied: true) }
        }
        let roots = isFull ? witness.root(ofBundle: bundle).map { [$0] } : witness.tailRoots
        return try naming(
            finding.settled(subtrees: Self.subtrees(width, roots)),
            from: first
        )
    }

    /// The complete subtrees of the places of a bundle, with their roots.
    private static func subtrees(
        _ width: Int,
        _ roots: [Digest]?
    ) -> [(places: Range<Int>, root: Digest)] {
        guard let roots, roots.count == width.nonzeroBitCount else { return [] }
        var start = 0
        return roots.map { root in
            let size = 1 << (Int.bitWidth - 1 - (width - start).leadingZeroBitCount)
            defer { start += size }
            return (start..<start + size, root)
        }
    }

    /// Names the cause of each gap.
    private func naming(
        _ places: [PlaceFinding],
        from first: UInt64
    ) throws -> [PlaceFinding] {
        let isGap = places.contains { if case .gap = $0 { true } else { false } }
        guard isGap else { return places }
        var found: [UInt64: Range<UInt64>] = [:]
        for (sequence, finding) in zip(first..., places) {
            guard case .record(let record, _) = finding, let bytes = record.bytesThere else {
                continue
            }
            found[sequence] = bytes
        }
        var named: [PlaceFinding] = []
        for (sequence, finding) in zip(first..., places) {
            guard case .gap(let cause, let leaf, _) = finding, cause == .missing else {
                named.append(finding)
                continue
            }
            let told = try original.trace(of: sequence, among: found)
            named.append(.gap(told.cause, leaf: leaf, pages: told.pages))
        }
        return named
    }
}
