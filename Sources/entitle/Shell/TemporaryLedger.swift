import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations
import LedgerServer

/// A ledger that is gone when its server ends.
struct TemporaryLedger {
    let path: String
    let key: String
    let masterKey: [UInt8]

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "entitle-" + UUID().uuidString.lowercased()).path
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

    func remove() {
        // What is left behind stands in the system's temporary directory.
        try? FileManager.default.removeItem(atPath: path)
    }
}
