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
    private let kept = Mutex<[Key: Entry]>([:])

    private struct Key: Hashable {
        var kind: RollUp.Kind
        var environment: StoreEnvironment
    }

    private struct Entry {
        var rollUp: RollUp
        /// Events that the file's was made from.
        var writtenSize: UInt64
    }

    /// Events that a roll-up in memory may be ahead of its file: this long a report reads the log
    /// after a crash.
    private static let writeInterval: UInt64 = 20_000

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
    func current(_ kind: RollUp.Kind, _ environment: StoreEnvironment) -> RollUp? {
        let key = Key(kind: kind, environment: environment)
        if let known = kept.withLock({ $0[key]?.rollUp }) { return known }
        // A roll-up that cannot be read, or held against the log, is made anew.
        guard let seal, let file = file(key),
            let bytes = try? ViewFile.content(file, limit: RollUpFile.byteLimit),
            let (found, position) = try? RollUpFile.rollUp(
                bytes.span,
                kind,
                environment: environment,
                seal
            ),
            (try? self.position(found.size, seal)) == position
        else { return nil }
        kept.withLock { $0[key] = Entry(rollUp: found, writtenSize: found.size) }
        return found
    }

    /// Keeps a newer roll-up; on the disk where this process writes and the disk takes it.
    ///
    /// `isWritten`: now, and not only once it is far ahead of its file.
    func keep(
        _ rollUp: RollUp,
        _ kind: RollUp.Kind,
        _ environment: StoreEnvironment,
        isWritten: Bool
    ) {
        let key = Key(kind: kind, environment: environment)
        let isDue = kept.withLock { kept in
            let written = kept[key]?.writtenSize ?? 0
            let isDue =
                isWritten || rollUp.size < written
                || rollUp.size - written >= Self.writeInterval
            kept[key] = Entry(rollUp: rollUp, writtenSize: isDue ? rollUp.size : written)
            return isDue
        }
        // Without a position, or room on the disk, the next process makes it anew.
        guard isDue, !isReadOnly, let seal, let file = file(key),
            let position = try? position(rollUp.size, seal),
            let bytes = RollUpFile.bytes(
                of: rollUp,
                kind,
                position: position,
                environment: environment,
                seal
            )
        else { return }
        // What is not written is made anew by the next process.
        try? ViewFile.replace(file, with: bytes, isDurable: false)
    }

    /// Forgets the roll-ups that something sealed was read for, in memory and on the disk: it opens no
    /// more.
    func forgetSealed() throws {
        for kind in RollUp.Kind.allCases where kind.readsSealed {
            for environment in StoreEnvironment.allCases {
                let key = Key(kind: kind, environment: environment)
                kept.withLock { $0[key] = nil }
                guard let file = file(key) else { continue }
                do {
                    try FileManager.default.removeItem(atPath: file)
                } catch let fault as CocoaError where fault.code == .fileNoSuchFile {
                    // There was none, or another erasure was faster.
                }
            }
        }
    }

    private func file(_ key: Key) -> String? {
        path.map { $0 + "/" + key.kind.rawValue + "-" + key.environment.name }
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
