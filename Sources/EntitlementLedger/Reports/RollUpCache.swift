import Entitlements
import EventLog
import FoundationEssentials
import PostingIndex
import Synchronization

/// The roll-ups of a ledger: in memory, and in files beside the views.
final class RollUpCache: Sendable {
    /// nil: they stand in memory.
    private let path: String?
    private let log: any LogReader
    private let seal: ViewSeal?
    private let isReadOnly: Bool
    private let revenue = Mutex<[StoreEnvironment: RevenueRollUp]>([:])

    /// `secret`: the vault's, under which views are written; nil: what stands there is not believed.
    init(
        path: String?,
        log: any LogReader,
        identity: LedgerIdentity,
        secret: KeyedHash?,
        isReadOnly: Bool
    ) {
        self.path = path
        self.log = log
        seal = secret.map { ViewSeal(ledgerID: identity.id, secret: $0) }
        self.isReadOnly = isReadOnly
    }

    /// The roll-up that is there; nil if none is, or it is not of this log.
    func current(_ environment: StoreEnvironment) -> RevenueRollUp? {
        if let known = revenue.withLock({ $0[environment] }) { return known }
        // A roll-up that cannot be read, or held against the log, is made anew.
        guard let seal, let file = file(environment),
            let bytes = try? ViewFile.content(
                file,
                limit: RevenueRollUpFile.byteLimit
            ),
            let (found, position) = try? RevenueRollUpFile.rollUp(
                bytes.span,
                environment: environment,
                seal
            ),
            (try? self.position(found.size, seal)) == position
        else { return nil }
        revenue.withLock { $0[environment] = found }
        return found
    }

    /// Keeps a newer roll-up; on the disk where this process writes and the disk takes it.
    func keep(_ rollUp: RevenueRollUp, _ environment: StoreEnvironment) {
        revenue.withLock { $0[environment] = rollUp }
        // Without a position, or room on the disk, the next process makes it anew.
        guard !isReadOnly, let seal, let file = file(environment),
            let position = try? position(rollUp.size, seal),
            let bytes = RevenueRollUpFile.bytes(
                of: rollUp,
                position: position,
                environment: environment,
                seal
            )
        else { return }
        // What is not written is made anew by the next process.
        try? ViewFile.replace(file, with: bytes, isDurable: false)
    }

    /// Forgets all roll-ups, in memory and on the disk: what they were made from opens no more.
    func forget() throws {
        revenue.withLock { $0 = [:] }
        for environment in StoreEnvironment.allCases {
            guard let file = file(environment), FileManager.default.fileExists(atPath: file)
            else { continue }
            try FileManager.default.removeItem(atPath: file)
        }
    }

    private func file(_ environment: StoreEnvironment) -> String? {
        path.map { $0 + "/revenue-" + environment.name }
    }

    private func position(_ size: UInt64, _ seal: ViewSeal) throws -> ViewPosition {
        guard size <= (try log.end().size) else {
            throw DecodingFault(what: "a roll-up of a longer log", offset: 0)
        }
        return ViewPosition(
            ledgerID: seal.ledgerID,
            treeSize: size,
            root: size == 0 ? TreeHash.emptyRoot : try TreeReader(LogTiles(log)).root(size: size),
            // The file has a code of its own: it need not be of this boot.
            bootID: ""
        )
    }
}
