public import Entitlements
package import EventLog
import Synchronization

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
    /// Whether it shows what would come of something that is not to be done yet.
    private let isDraft: Bool
    /// Which history the size is of that was asked about last; nil: none was.
    private let knownRoot = Mutex<(size: UInt64, prefix: RootPrefix)?>(nil)

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
        isDraft = snapshot != nil
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

    /// Whether a stream is a customer's, or else a purchase's; nil: it is neither, as far as is known.
    ///
    /// `kind`: of an event about it. Its name is looked at where the kind does not tell: it may be erased.
    func isCustomer(_ stream: UInt64, _ kind: EventKind) throws -> Bool? {
        if kind.isOfCustomer { return true }
        if kind.isOfPurchase { return false }
        guard let name = try vault.name(of: stream) else { return nil }
        switch Subject(name.subject) {
        case .customer?: return true
        case .purchase?: return false
        default: return nil
        }
    }

    /// Which history the log's first events are of; nil where a salvage could not bring the tree back.
    ///
    /// `size`: at most that of the log. Cost: a proof of consistency; for the size that was asked about last
    /// nothing is read.
    ///
    /// - Throws: `LogStorageFault.damaged` where the tree's hashes contradict one another, which have no
    ///   checksums; `DecodingFault` where one is missing.
    package func rootPrefix(at size: UInt64) throws -> RootPrefix? {
        if let known = knownRoot.withLock(\.self), known.size == size { return known.prefix }
        guard knownLoss?.isTreeLost != true else { return nil }
        let end = try log.end()
        let prefix = RootPrefix(of: try root(at: size, below: end))
        knownRoot.withLock { $0 = (size, prefix) }
        return prefix
    }

    private func root(at size: UInt64, below end: LogEnd) throws -> Digest {
        // What a draft adds stands in no tile.
        if isDraft, size == end.size { return end.edge.root }
        let tree = TreeReader(LogTiles(log))
        let root = try tree.root(size: size)
        guard
            try isDraft || size == 0
                || tree.consistencyProof(from: size, to: end.size)
                    .holds(oldRoot: root, newRoot: end.edge.root)
        else { throw LogStorageFault(.damaged, "hashes of the tree contradict one another") }
        return root
    }
}
