import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerOperations

/// The command `entitle init`.
struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Makes a ledger.",
        discussion: HelpText.discussion(examples: "entitle init")
    )

    @OptionGroup var options: LedgerOptions

    @Option(help: "A catalog to publish at once.")
    var catalog: String?

    @Option(help: "The log's name in checkpoints: a schema-less URL.")
    var origin = "ledger.local/log"

    func run() throws {
        let path = options.path
        // Before anything is made.
        guard NoteName.isValid(origin) else {
            throw OperationFault(
                .usage,
                "a log's name has no space and no plus",
                place: "--origin"
            )
        }
        let document = try catalog.map { try CatalogFile.read($0) }
        // What is wrong with it is said before anything is made.
        let faults = document.map(CatalogFile.faults) ?? []
        guard faults.isEmpty else { throw OperationFault(catalog: faults) }
        var new = OpenLedger.Options(key: try options.keyOptions.given().map { .bytes($0) } ?? .own)
        new.origin = origin
        try OperationFault.naming(path) { try Ledger.create(at: path, options: new) }
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
            if case .own = new.key {
                Terminal.note(
                    "the master key is \(path)/\(LedgerDirectory.keyName): keep a copy of it apart from"
                        + " backups; whoever loses it loses every name"
                )
            }
            Terminal.note(
                "next: entitle catalog publish FILE; entitle import FILE; entitle show ID"
            )
        }
    }
}
