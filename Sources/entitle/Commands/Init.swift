import ArgumentParser
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage

/// The command `entitle init`.
struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Makes a ledger.")

    @OptionGroup var options: LedgerOptions

    @Option(help: "A catalog to publish at once.")
    var catalog: String?

    @Option(help: "The log's name in checkpoints: a schema-less URL.")
    var origin = "ledger.local/log"

    func run() throws {
        let path = options.path
        let document = try catalog.map { try CatalogFile.read($0) }
        // What is wrong with it is said before anything is made.
        let faults = document.map(CatalogFile.faults) ?? []
        guard faults.isEmpty else { throw CommandFailure(faults) }
        let key = try masterKey(path)
        try LedgerDirectory.create(
            at: path,
            masterKey: key,
            origin: origin,
            created: SystemClock.now().description,
            randomness: .system
        )
        try options.withLedger(writing: true) { ledger in
            if let document {
                try CatalogFile.publish(document, effective: nil, id: nil, ledger)
            }
        }
        let manifest = try LedgerDirectory.manifest(at: path)
        if options.json {
            Terminal.line(
                .members([
                    "ledger": .string(manifest.ledger), "path": .string(path),
                    "origin": .string(manifest.origin), "publicKey": .string(manifest.publicKey),
                ])
            )
        } else {
            Terminal.line("made a ledger in \(path)")
            Terminal.note(
                "next: entitle catalog publish FILE; entitle import FILE; entitle show ID"
            )
        }
    }

    /// The key that was given, or a new one in the ledger's directory, readable by its owner only.
    private func masterKey(_ path: String) throws -> [UInt8] {
        if let key = Settings.current.key, options.keyFile == nil {
            return try MasterKey.parse(key, place: "ENTITLE_KEY")
        }
        let given = options.keyFile ?? Settings.current.keyFile
        if let given { return try MasterKey.read(named: given, ledger: path) }
        guard try DurableFile.names(in: path).isEmpty else {
            throw LedgerOpenFault(.notEmpty, "the directory is not empty")
        }
        var randomness = RandomSource.system
        let key = randomness.bytes(MasterKey.byteCount)
        do {
            try DurableFile.makeFolder(path)
        } catch {
            throw LedgerOpenFault(.cannotCreate, "the directory cannot be made")
        }
        try OutputFile.create(
            Hexadecimal.encode(key) + "\n",
            at: path + "/" + LedgerDirectory.keyName
        )
        return key
    }
}
