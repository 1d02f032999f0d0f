import DurableFiles
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import Glibc
import LMDBStorage
import LedgerOperations
import LedgerServer
import Synchronization

/// A ledger that is gone when its server ends, or when the program ends itself before that.
struct TemporaryLedger {
    let path: String
    let key: String
    let masterKey: [UInt8]

    /// Where those stand that this process made.
    private static let paths = Mutex<[String]>([])

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "entitle-" + UUID().uuidString.lowercased()).path
        Self.note(path)
        var randomness = RandomSource.system
        masterKey = randomness.bytes(MasterKey.byteCount)
        var options = OpenLedger.Options(key: .bytes(masterKey))
        options.origin = "ledger.local/ephemeral"
        try Ledger.create(at: path, options: options)
        let made = APIKey.make(
            name: "ephemeral",
            scopes: [.admin],
            createdAt: SystemClock.now(),
            expiresAt: nil,
            using: &randomness
        )
        key = made.text
        do {
            var file = KeyFile()
            _ = file.add(made.key)
            try LedgerDirectory.change(KeyFile.name, at: path) { file.bytes }
        } catch {
            // The first fault is the one that is told.
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }

    /// Opens it; `clock`: one that may be turned, in place of the machine's.
    func open(catalog: String?, clock: (@Sendable () -> Instant)? = nil) throws -> OpenLedger {
        var options = try Invocation.current.settings.opening(.bytes(masterKey))
        if let clock { (options.clock, options.clockWitness) = (clock, .trusting) }
        let open = try OpenLedger(at: path, options: options)
        do {
            if let catalog {
                try CatalogFile.publish(
                    CatalogFile.read(catalog),
                    effective: nil,
                    id: nil,
                    open.ledger
                )
            }
        } catch {
            open.close(after: error)
            throw error
        }
        return open
    }

    func remove() { Self.remove(at: path) }

    /// Removes all that this process made, where it ends before whoever made one does.
    static func removeAll() {
        for path in paths.withLock(\.self) { remove(at: path) }
    }

    private static func remove(at path: String) {
        let gone = path + ".gone"
        do {
            // A job that writes yet finds no folder: it would put a file back into one that is being emptied.
            try DurableFile.rename(path, to: gone)
            try FileManager.default.removeItem(atPath: gone)
        } catch {
            // What is left behind stands in the system's temporary directory.
        }
    }

    /// Has it removed too where a fault or a second `^C` ends the program by exit(3), which returns to nobody, or
    /// a closed pipe, whose signal would end it at once.
    private static func note(_ path: String) {
        paths.withLock { $0.append(path) }
        signal(SIGPIPE, SIG_IGN)
        atexit { TemporaryLedger.removeAll() }
    }
}
