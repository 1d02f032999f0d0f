import DurableFiles
import EventLog
import Glibc
import Synchronization

/// The writer's lock: on the log's data file, so that it cannot be taken away without the log
/// (Storage, "A ledger directory").
///
/// `writer.lock` beside it only shows what goes on.
final class WriterLock: Sendable {
    /// nil: given up.
    private let descriptor: Mutex<Int32?>
    private let ledger: String

    private init(_ descriptor: Int32, of ledger: String) {
        self.descriptor = Mutex(descriptor)
        self.ledger = ledger
    }

    deinit { release() }

    /// Gives it up.
    func release() {
        descriptor.withLock { descriptor in
            if let descriptor { close(descriptor) }
            descriptor = nil
        }
    }

    private static func file(of ledger: String) -> String {
        ledger + "/" + LedgerDirectory.logName + "/" + LedgerDirectory.dataName
    }

    /// Takes the lock; who would write waits a moment for it.
    ///
    /// `isShared`: beside others that only look, while nobody writes.
    ///
    /// - Throws: `LedgerOpenFault.locked` or `.recovering` where another process writes, `.damaged`
    ///   where there is no log; `FileFault`.
    static func take(at ledger: String, isShared: Bool = false) throws -> WriterLock {
        guard try DurableFile.status(file(of: ledger), followsLinks: true) != nil else {
            throw LedgerOpenFault(.damaged, "the log's data file is missing")
        }
        guard let lock = try DurableFile.whenFree({ try attempt(at: ledger, isShared) }) else {
            throw refusal(at: ledger)
        }
        return lock
    }

    /// Whether somebody holds it; nil: nobody can tell.
    static func isHeld(at ledger: String) -> Bool? {
        do {
            return try attempt(at: ledger, true) == nil
        } catch {
            return nil
        }
    }

    private static func attempt(at ledger: String, _ isShared: Bool) throws -> WriterLock? {
        try DurableFile.lockData(file(of: ledger), isShared: isShared)
            .map { WriterLock($0, of: ledger) }
    }

    /// What whoever is locked out is told.
    private static func refusal(at ledger: String) -> LedgerOpenFault {
        // Without a mark the refusal says what is true of every writer.
        let mark = try? DurableFile.read(ledger + "/" + LedgerDirectory.lockName)
        guard let recovery = mark.flatMap({ $0 }).flatMap({ Recovery(mark: $0) }) else {
            return LedgerOpenFault(.locked, "another process writes to it")
        }
        return LedgerOpenFault(.recovering, recovery.message)
    }

    /// Tells whoever waits for the lock what goes on (row 8.4); nil: the usual writing.
    ///
    /// Where the disk takes nothing they learn only that somebody writes.
    func announce(_ recovery: Recovery?) {
        // Where the disk takes nothing they learn only that somebody writes.
        try? DurableFile.replace(
            ledger + "/" + LedgerDirectory.lockName,
            with: recovery?.mark ?? [],
            isSynced: false
        )
    }

    /// Checks that the file that is locked is the ledger's log: another one in its place has locks of
    /// its own.
    ///
    /// - Throws: `LogStorageFault.replaced`.
    func checkPlace() throws {
        let place = Self.file(of: ledger)
        let locked = descriptor.withLock { $0.flatMap { FileIdentity(of: $0) } }
        guard let locked, FileIdentity(at: place) == locked else {
            throw LogStorageFault(.replaced, "log/\(LedgerDirectory.dataName) was replaced")
        }
    }
}

/// The files of an LMDB environment that this process writes to: where one of them is replaced or
/// removed, what is written would be seen by nobody, or readers by no writer.
struct EnvironmentFiles: Sendable {
    private let path: String
    private let identities: [FileIdentity?]
    private static let names = [LedgerDirectory.dataName, "lock.mdb"]

    /// Remembers those that are open.
    init(at path: String) {
        self.path = path
        identities = Self.identities(at: path)
    }

    private static func identities(at path: String) -> [FileIdentity?] {
        names.map { FileIdentity(at: path + "/" + $0) }
    }

    /// Costs a look for each file.
    ///
    /// - Throws: `LogStorageFault.replaced`.
    func check() throws {
        for (name, identity) in zip(Self.names, identities)
        where FileIdentity(at: path + "/" + name) != identity {
            let folder = path.split(separator: "/").last ?? ""
            throw LogStorageFault(.replaced, "\(folder)/\(name) was replaced or removed")
        }
    }
}
