import Dispatch
import Encodings
import EventLog
import FoundationEssentials
import Synchronization

/// Puts a log together again from what its damaged file and second copies hold.
struct LogSalvage: Sendable {
    let log: DamagedLog
    let supplies: [any SalvageSupply]
    let end: SalvagedEnd
    private let witness: HashWitness
    private let rules: SalvageRules
    private var sharedParts: [EventLog.Digest: [UInt8]] = [:]
    private var keptParts: Set<EventLog.Digest> = []
    private(set) var report = SalvageReport()
    private let vault: VaultSalvage
    /// The streams that its records name and that have no key any more.
    private(set) var keyless: Set<UInt64> = []
    /// The streams that its records erase.
    private(set) var erased: Set<UInt64> = []
    /// The carriers of the evidence that its records say to be deleted.
    private(set) var deletedEvidence: [UInt64] = []
    private var lastRecordedAt = Int64.min
    private var highestCounter: UInt64 = 0
    private var edge = TreeEdge()
    private var signed: SignedSizes
    /// Places that were handed out, gaps at the end apart.
    private var writtenSize: UInt64 = 0

    /// Bundles that are put together at once.
    private static let batch: UInt64 = 16
    /// Shared parts that are held.
    private static let sharedPartLimit = 10_000
    /// Bytes of companions that are held before they are written.
    private static let batchByteLimit = 16 << 20

    init(
        _ log: DamagedLog,
        end: SalvagedEnd,
        signed: [Checkpoint],
        supplies: [any SalvageSupply],
        vault: VaultSalvage,
        rules: SalvageRules
    ) throws {
        self.log = log
        self.end = end
        self.signed = SignedSizes(signed)
        self.vault = vault
        self.supplies = supplies
        self.rules = rules
        witness = try HashWitness(
            [log] + supplies.map { SuppliedHashes(supply: $0) },
            edge: end.stated?.edge,
            size: end.size
        )
        for place in log.found.sharedParts {
            takeSharedPart(try log.read(place))
        }
        for supply in supplies { try supply.sharedParts { takeSharedPart($0) } }
        report.size = end.size
    }

    /// Parts are few: chains of certificates that many evidences have in common.
    private mutating func takeSharedPart(_ bytes: [UInt8]) {
        guard sharedParts.count < Self.sharedPartLimit,
            let digest = rules.sharedPartDigest(bytes)
        else { return }
        sharedParts[digest] = bytes
    }

    /// Hands out the log from its beginning on, as batches for a new one, and reports.
    ///
    /// Bundles are put together on all cores; memory holds some of them.
    mutating func run(
        progress: (UInt64, UInt64) -> Void,
        _ body: (LogBatch) throws -> Void
    ) throws -> SalvageReport {
        var next: UInt64 = 0
        while next < end.foundSize {
            let upper = min(next + Self.batch * Bundle.recordCount, end.foundSize)
            var batch = newBatch
            for bundle in try settle(next..<upper) {
                try take(bundle, into: &batch)
                guard batch.companions.reduce(0, { $0 + $1.bytes.count }) > Self.batchByteLimit
                else { continue }
                try hand(&batch, to: body)
            }
            if upper == end.foundSize { dropLostEnd(&batch) }
            try hand(&batch, to: body)
            next = upper
            progress(next, end.size)
        }
        if end.size > writtenSize {
            let cause = log.isCut ? LostRecord.Cause.truncated : .missing
            report.note(gap: writtenSize..<end.size, cause, pages: nil)
            report.isProven = false
        }
        conclude()
        signed.conclude(&report)
        return report
    }

    private var newBatch: LogBatch {
        LogBatch(after: LogEnd(edge: edge, lastRecordedAt: lastRecordedAt, highestCounter: 0))
    }

    private func hand(_ batch: inout LogBatch, to body: (LogBatch) throws -> Void) throws {
        batch.lastRecordedAt = lastRecordedAt
        batch.highestCounter = highestCounter
        if !batch.records.isEmpty { try body(batch) }
        batch = newBatch
    }

    /// What confirms everything at once: the stated end's edge.
    private mutating func conclude() {
        if let stated = end.stated, stated.size == end.size {
            if edge == stated.edge {
                report.confirmed = report.records
                report.unconfirmed = []
            } else {
                report.isProven = false
            }
        } else if end.stated != nil {
            report.isProven = report.isProven && report.unconfirmed.isEmpty
        }
    }

    /// A gap at the end, whose hash is lost too, needs no place.
    private mutating func dropLostEnd(_ batch: inout LogBatch) {
        while let last = batch.records.last, let gap = LostRecord(last.span), gap.leaf == nil {
            batch.records.removeLast()
            batch.leaves.removeLast()
            report.dropLastGap()
            writtenSize -= 1
        }
    }

    // MARK: One bundle

    private struct Settled: Sendable {
        var first: UInt64
        var places: [PlaceFinding]
    }

    private func settle(_ sequences: Range<UInt64>) throws -> [Settled] {
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
        try finding.add(from: log)
        if known == nil, isFull, finding.isUnsettled, let sample = finding.sample,
            let tile = try log.unnamedTile(holding: sample.leaf, at: sample.place),
            witness.agrees(tile, bundle: bundle)
        {
            finding = BundleFinding(first: first, width: width, known: tile)
            try finding.add(from: log)
        }
        if finding.isUnsettled {
            for supply in supplies {
                for record in try supply.records(ofBundle: bundle) {
                    guard let header = try? RecordHeader(checking: record.span) else { continue }
                    finding.add(
                        header.sequence,
                        record.span,
                        isLive: false,
                        isSupplied: true,
                        offset: nil
                    )
                }
            }
        }
        let roots = isFull ? witness.root(ofBundle: bundle).map { [$0] } : witness.tailRoots
        return try naming(
            finding.settled(subtrees: Self.subtrees(width, roots)),
            of: finding,
            bundle: bundle
        )
    }

    /// The complete subtrees of the places of a bundle, with their roots.
    private static func subtrees(
        _ width: Int,
        _ roots: [EventLog.Digest]?
    ) -> [(places: Range<Int>, root: EventLog.Digest)] {
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
        of finding: BundleFinding,
        bundle: UInt64
    ) throws -> [PlaceFinding] {
        let isGap = places.contains { if case .gap = $0 { true } else { false } }
        guard isGap else { return places }
        let value = log.live.lazy.compactMap { $0.bundles[bundle] }.first
        var offsets: [Int: DatabasePage.Place] = [:]
        for (place, found) in places.enumerated() {
            guard case .record(let record, _) = found, let offset = record.offset, let value,
                offset >= value.offset, offset < value.end
            else { continue }
            offsets[place] = DatabasePage.Place(offset: offset, count: record.bytes.count)
        }
        let causes = GapCause(log: log, value: value, offsets: offsets)
        var named: [PlaceFinding] = []
        for (place, found) in places.enumerated() {
            guard case .gap(let cause, let leaf, _) = found, cause == .missing else {
                named.append(found)
                continue
            }
            let told = try causes.cause(of: place, sequence: finding.first + UInt64(place))
            named.append(.gap(told.cause, leaf: leaf, pages: told.pages))
        }
        return named
    }

    // MARK: Joining

    private mutating func take(_ bundle: Settled, into batch: inout LogBatch) throws {
        for (index, finding) in bundle.places.enumerated() {
            let sequence = bundle.first + UInt64(index)
            switch finding {
            case .record(let record, let isConfirmed):
                try take(record, sequence, isConfirmed: isConfirmed, into: &batch)
            case .gap(let cause, let leaf, let pages):
                report.note(gapAt: sequence, cause, pages: pages)
                report.lostWithin += 1
                if leaf == nil { report.isProven = false }
                let gap = LostRecord(
                    sequence: sequence,
                    recordedAt: lastRecordedAt,
                    cause: cause,
                    leaf: leaf
                )
                let bytes = gap.bytes
                append(bytes, TreeHash.leaf(ofEntry: bytes.span), &batch)
            }
        }
    }

    private mutating func append(
        _ entry: [UInt8],
        _ leaf: EventLog.Digest,
        _ batch: inout LogBatch
    ) {
        batch.records.append(entry)
        batch.leaves.append(leaf)
        edge.append(leaf)
        signed.compare(edge)
        writtenSize = edge.size
    }

    private mutating func take(
        _ record: PlaceFinding.Candidate,
        _ sequence: UInt64,
        isConfirmed: Bool,
        into batch: inout LogBatch
    ) throws {
        let header = try RecordHeader(reading: record.bytes.span)
        append(record.bytes, record.leaf, &batch)
        report.records += 1
        if isConfirmed { report.confirmed += 1 } else { report.note(unconfirmed: sequence) }
        if record.isSupplied { report.refilled += 1 }
        lastRecordedAt = header.recordedAt
        for stream in rules.namedStreams(record.bytes) where stream != StreamNumber.catalog {
            highestCounter = max(highestCounter, StreamNumber.counter(of: stream))
            if !vault.holds(stream) { keyless.insert(stream) }
        }
        erased.formUnion(rules.erasedStreams(record.bytes))
        deletedEvidence += rules.deletedEvidence(record.bytes)
        guard header.companion != .none, header.carrier == sequence,
            let digest = header.companionDigest
        else { return }
        guard let blob = try companion(digest, bundle: sequence / Bundle.recordCount) else {
            report.lostCompanions.append(sequence)
            return
        }
        report.companions += 1
        batch.companions.append((sequence, blob))
        if header.companion == .evidence { try takeSharedParts(of: blob, into: &batch) }
    }

    private func companion(_ digest: EventLog.Digest, bundle: UInt64) throws -> [UInt8]? {
        if let own = try log.companion(digest) { return own }
        for supply in supplies {
            if let blob = try supply.companion(digest, ofBundle: bundle),
                CompanionBytes.digest(of: blob.span) == digest
            {
                return blob
            }
        }
        return nil
    }

    /// Shared parts that cannot be found leave the evidence as it is; an audit names it.
    private mutating func takeSharedParts(of blob: [UInt8], into batch: inout LogBatch) throws {
        for digest in (try? EvidenceBlob.sharedParts(of: blob.span)) ?? []
        where !keptParts.contains(digest) {
            guard let part = sharedParts[digest] else { continue }
            keptParts.insert(digest)
            batch.sharedParts.append((digest, part))
        }
    }
}
