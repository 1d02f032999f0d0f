import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations
import LedgerServer

/// The command `entitle checkpoint`.
struct CheckpointCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "checkpoint",
        abstract: "Signs the log's size and root, for others to keep.",
        discussion: HelpText.discussion(
            """
            A checkpoint that somebody else holds is what shows that history was changed: \
            publish it where you cannot take it back, or have witnesses sign it.
            """,
            examples: "entitle checkpoint --publish checkpoint"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @Option(help: "A file, or a directory, to put it in as well.") var publish: String?
    @Option(help: "A file with what a witness signed, to be kept with the checkpoint.")
    var cosignature: String?
    @Option(help: "The witness's verifier key; may be repeated.") var witness: [String] = []

    func validate() throws {
        if (cosignature == nil) != witness.isEmpty {
            throw ValidationError("--cosignature and --witness go together")
        }
    }

    func run() throws {
        let witnesses = try witness.map {
            try ProofFile.key($0, "--witness", kind: .cosignature)
        }
        let lines = try cosignature.map { try ProofFile.text($0) }
        if publish != nil { try server.refuse() }
        if let client = try server.writing(options) {
            let note = try asked(client, lines)
            if let publish {
                try options.withLedger(writing: false) {
                    try Publication.put(note, at: publish, of: $0)
                }
            }
            return show(note)
        }
        let note = try options.withLedger(writing: true) { ledger in
            let note =
                try lines.map { try ledger.prover.addCosignatures($0, of: witnesses) }
                ?? ledger.prover.checkpoint()
            if let publish { try Publication.put(note, at: publish, of: ledger) }
            return note
        }
        show(note)
    }

    private func asked(_ client: ServerClient, _ cosignatures: String?) throws -> String {
        let members = cosignatures.map {
            [
                JSONMember("cosignatures", .string($0)),
                JSONMember("witnesses", .array(witness.map { .string($0) })),
            ]
        }
        let call = ServerCall.change(.post, ["v1", "checkpoint"], [], .object(members ?? []))
        return try client.member("checkpoint", of: call, \.string)
    }

    private func show(_ note: String) {
        if options.json {
            Terminal.line(.members(["checkpoint": .string(note)]))
        } else {
            Terminal.write(note)
        }
    }
}
