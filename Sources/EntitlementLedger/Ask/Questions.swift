public import Entitlements
package import EventLog

/// The part of a ledger that answers: what customers may use, have and had, and why.
///
/// Every answer is made from a prefix of the log, so that it may be asked for again (R).
public final class Questions: Sendable {
    let identity: LedgerIdentity
    let log: any LogReader
    let vault: any VaultReader
    let views: Views
    let catalogs: CatalogCache
    let accessCache: AccessCache
    let knownLoss: KnownLoss?
    /// Ends what goes over the whole log.
    let walkEnd = WalkEnd()
    /// Whether somebody else may append, so that the log's end must be looked at.
    let isReadOnly: Bool

    /// Makes the part with its views, which are made anew where they do not match the log.
    ///
    /// `snapshot`: what a draft's views go on from; nil: it is none.
    ///
    /// - Throws: `LogStorageFault`, or what the views' files throw.
    init(
        of identity: LedgerIdentity,
        _ log: any LogReader,
        _ vault: any VaultReader,
        _ options: Ledger.Options,
        goingOnFrom snapshot: Views.Snapshot?
    ) throws {
        self.identity = identity
        self.log = log
        self.vault = vault
        knownLoss = options.knownLoss
        isReadOnly = options.isReadOnly
        catalogs = CatalogCache(log: log)
        if let snapshot {
            views = try Views(goingOnFrom: snapshot, identity: identity, log: log)
        } else {
            views = try Views(
                path: options.viewsPath,
                identity: identity,
                log: log,
                secret: vault.viewSecret,
                isReadOnly: options.isReadOnly,
                bootID: options.bootID
            )
        }
        accessCache = AccessCache(
            using: options.randomness,
            byteLimit: options.accessCacheByteLimit
        )
        // What was folded through views that were made anew may be wrong.
        views.whenReplaced { [accessCache] in accessCache.removeAll() }
    }

    /// Number of events in the log.
    ///
    /// Cost: one small read.
    public func size() throws -> UInt64 { try log.end().size }

    /// When the last event was recorded (T3); nil for an empty log.
    ///
    /// Cost: one small read.
    public func lastRecordedAt() throws -> Instant? {
        let end = try log.end()
        return end.size == 0 ? nil : Instant(milliseconds: end.lastRecordedAt)
    }

    /// Which history the log's first events are of.
    ///
    /// `size`: at most that of the log. Cost: at the log's end one small read, else eight tiles at most.
    package func rootPrefix(at size: UInt64) throws -> RootPrefix {
        let end = try log.end()
        guard end.size != size else { return RootPrefix(of: end.edge.root) }
        return RootPrefix(of: try TreeReader(LogTiles(log)).root(size: size))
    }
}
