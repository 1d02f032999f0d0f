import Encodings
public import Entitlements
import EventLog
import LedgerAPI

extension Questions {
    /// Whether a customer may use a feature at an instant, by everything that is known; made for now.
    ///
    /// Synchronous, on the caller's thread; false for a feature that the catalog does not have, and
    /// for one whose limit is used up (C5).
    /// A customer who was asked for before costs a look-up in memory, unless something was recorded
    /// about them since.
    ///
    /// - Throws: what `foldAccess` throws.
    public func can(
        _ customer: CustomerID,
        _ feature: String,
        environment: StoreEnvironment,
        at now: Instant
    ) throws -> Bool {
        let access =
            try cachedAccess(of: customer, environment: environment, at: now)
            ?? foldAccess(of: customer, environment: environment, at: now, isWritten: false)
        return access.allows(feature)
    }

    /// What a customer may use at an instant, as it was folded before; nil if it must be folded.
    ///
    /// Made for the caller's thread: no fold, no wait, O(1) in the log.
    ///
    /// - Throws: what a look into the views throws.
    package func cachedAccess(
        of customer: CustomerID,
        environment: StoreEnvironment,
        at now: Instant
    ) throws -> CachedAccess? {
        if isReadOnly, try views.end < log.end().size { return nil }
        guard let cached = accessCache[accessCache.hash(of: customer, environment)],
            try cached.holds(at: now, in: views)
        else { return nil }
        return cached
    }

    /// Whether what was folded is what the log's first `size` events give; false too where that is not certain.
    ///
    /// Cost: that of ``cachedAccess(of:environment:at:)``, and a look at how far the views reach.
    ///
    /// - Throws: what a look into the views throws.
    package func isMade(_ access: CachedAccess, from size: UInt64) throws -> Bool {
        // What stands in the log and not in the views yet may be about the customer.
        try views.end >= size && access.isUnmoved(since: size, in: views)
    }

    /// Folds what a customer may use at an instant, everything known, and keeps it.
    ///
    /// A customer of whom nothing was recorded is not kept: nothing would tell when they come.
    /// `isWritten`: whether each feature's answer is made as text.
    ///
    /// - Throws: `LogStorageFault`.
    package func foldAccess(
        of customer: CustomerID,
        environment: StoreEnvironment,
        at now: Instant,
        isWritten: Bool
    ) throws -> CachedAccess {
        // Before the stream: whose erasure the views cover has no name any more when it is looked
        // up, and one that comes later moves the stream.
        let (covered, epoch) = (views.end, accessCache.epoch)
        let (timeline, streams) = try loadTimeline(
            of: customer,
            environment: environment,
            size: try log.end().size
        )
        let state = timeline.state(at: now)
        let access = CachedAccess(
            usable: accessCache.sharing(
                Set(state.features.lazy.filter(\.isUsable).map { Name($0.id) })
            ),
            features: isWritten
                ? try accessFeatures(of: state, timeline.catalogs.catalog(at: now)) : nil,
            from: now,
            validUntil: state.validUntil,
            nextCatalog: timeline.catalogs.next(after: now),
            size: covered,
            streams: streams
        )
        if !streams.isEmpty {
            let hash = accessCache.hash(of: customer, environment)
            accessCache.keep(access, of: hash, since: epoch)
        }
        return access
    }

    /// A state's features as answers hold them, by their ids.
    ///
    /// `catalog`: in force.
    func accessFeatures(
        of state: CustomerState,
        _ catalog: Catalog?
    ) throws -> [Name: CachedAccess.Feature] {
        let names = RecordedNames(self)
        let gates = catalog.map { GateMap($0) }
        var written: [Name: CachedAccess.Feature] = [:]
        for feature in state.features {
            let decision = try AccessDecision(
                feature,
                named: feature.id,
                validUntil: state.validUntil,
                gates: gates,
                names: names
            )
            let text = AnswerText(KeptDecision(decision)).trimmed
            written[Name(feature.id)] = CachedAccess.Feature(
                isUsable: feature.isUsable,
                reason: feature.reason,
                refusal: feature.refusal,
                text: text,
                digest: ContentDigest.text(of: text)
            )
        }
        return written
    }
}
