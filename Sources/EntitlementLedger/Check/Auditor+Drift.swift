import Encodings
public import Entitlements
import EventLog
import LedgerAPI

extension Auditor {
    /// Folds a sample of customers again, from the log alone, and holds the outcome against what
    /// the live views answer: the index of streams, and what customers may use now (row Z13).
    ///
    /// Nothing is written. What is recorded meanwhile is no difference: answers that it moved are
    /// passed over.
    ///
    /// Cost: three passes over the log and a fold of the sample, mostly on all cores; 6 bytes for
    /// each stream and core.
    /// - Parameters:
    ///   - sample: which customers.
    ///   - environment: the environment that is looked at.
    ///   - now: the instant of the answers that are compared.
    /// - Returns: what differs, and where the next sample begins.
    /// - Throws: what `foldCustomers` throws.
    public func drift(
        of sample: CustomerSample,
        environment: StoreEnvironment,
        at now: Instant
    ) throws -> DriftReport {
        let size = try questions.log.end().size
        let fold = PopulationFold(
            questions: questions,
            size: size,
            environment: environment,
            catalogs: try recordedCatalogs(size: size)
        )
        let components = try fold.components()
        let (ranges, next) = sample.components(of: components)
        var whole = DriftReport(environment: environment, size: size)
        whole.population = components.customerCounts.reduce(0) { $0 + Int($1) }
        whole.next = next
        let empty = DriftReport(environment: environment, size: size)
        let parts = try fold.run(ranges, of: components, into: empty) { report, timeline in
            try compare(timeline, at: now, &report)
        }
        for part in parts { whole.merge(part) }
        return whole
    }

    /// The catalogs of a prefix, found in the log and not in the views.
    private func recordedCatalogs(size: UInt64) throws -> CatalogHistory {
        var sequences: [UInt64] = []
        let log = questions.log
        try log.scanRecords(from: 0, upTo: size, until: questions.walkEnd) { sequence, record in
            if try RecordHeader.stream(of: record) == StreamNumber.catalog,
                try RecordHeader(checking: record).eventKind() == .catalogPublished
            {
                sequences.append(sequence)
            }
            return true
        }
        return try questions.catalogs.history(of: sequences)
    }

    private func compare(
        _ folded: CustomerTimeline,
        at now: Instant,
        _ report: inout DriftReport
    ) throws {
        report.customers += 1
        let live = try questions.loadTimeline(ofStream: folded.customer, size: report.size).timeline
        let names = RecordedNames(questions)
        let states = try [folded, live].map {
            try StateContent($0.state(at: now), names: names)
        }
        if states[0] != states[1] || !folded.isSame(as: live) {
            report.note(.view, folded.customer, "the views lead to another timeline")
        }
        try compareCached(folded, at: now, &report)
    }

    private func compareCached(
        _ folded: CustomerTimeline,
        at now: Instant,
        _ report: inout DriftReport
    ) throws {
        guard let customer = try questions.vault.customer(of: folded.customer),
            let cached = try questions.cachedAccess(
                of: customer,
                environment: report.environment,
                at: now
            ), try cached.isUnmoved(since: report.size, in: questions.views)
        else { return }
        report.cached += 1
        let state = folded.state(at: now)
        let catalog = folded.catalogs.catalog(at: now)
        let isSame =
            try state.features.allSatisfy { $0.isUsable == cached.allows($0.id) }
            && cached.features.map {
                try $0.isSame(as: questions.accessFeatures(of: state, catalog))
            } ?? true
        if !isSame {
            report.note(.cache, folded.customer, "kept answers are not those of the log")
        }
    }
}

extension [Name: CachedAccess.Feature] {
    fileprivate func isSame(as other: Self) -> Bool {
        count == other.count && allSatisfy { $1.text == other[$0]?.text }
    }
}

extension CustomerTimeline {
    /// Whether another one gives the same access, tiers and statuses at every instant.
    fileprivate func isSame(as other: CustomerTimeline) -> Bool {
        tierStretches == other.tierStretches
            && zip(featureStretches, other.featureStretches).allSatisfy {
                $0.feature == $1.feature && $0.stretches == $1.stretches
            }
            && statuses == other.statuses && accesses == other.accesses
    }

    private var statuses: [UInt64: [NamedStretch]] {
        Dictionary(
            purchases.map { ($0.timeline.number, $0.timeline.statusStretches) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// What gives access, when.
    private var accesses: Set<Access> {
        Set(stretches.map { Access(source: $0.source, interval: $0.interval) })
    }

    private struct Access: Hashable {
        var source: AccessSource
        var interval: Interval
    }
}
