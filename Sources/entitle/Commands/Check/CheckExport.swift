import ArgumentParser
import DurableFiles
import Encodings
import EntitlementLedger
import EventLog
import Foundation
import LMDBStorage
import LedgerAPI
import LedgerOperations
import Presentation

/// The command `entitle check-export`.
struct CheckExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-export",
        abstract: "Verifies an export without a ledger: exit 3 where something is wrong.",
        discussion: HelpText.discussion(
            """
            Without --key everything is held against the key that the export itself names: that
            shows that it is whole, not whose it is. The operator's key is `publicKey` in
            ledger.json.
            """,
            HelpText.noLedger,
            examples: "entitle check-export alice-export"
        )
    )

    @OptionGroup var common: CommonOptions
    @Option(help: "The ledger's verifier key: NAME+ID+BASE64.") var key: String?
    @Argument(help: "The export's directory, or the file that a server streamed.") var path: String

    func run() throws {
        let check = try check(key: verifierKey())
        Terminal.tell(AnswerText(check), or: check.textLines, asJSON: common.json)
        if !check.isOK { throw ExitCode(.integrity) }
    }

    private func check(key: VerifierKey?) throws -> ExportCheckAnswer {
        let manager = FileManager.default
        if manager.fileExists(atPath: path + "/" + ExportFile.manifest) {
            return try ExportCheckAnswer(ExportFiles(path: path), key: key)
        }
        // What was streamed is read more than once, which a pipe cannot be.
        guard try DurableFile.byteCount(path) != nil else {
            throw OperationFault(
                .noInput,
                "there is no export",
                place: path,
                hint: "an export that was stopped has no manifest: --resume it"
            )
        }
        return try ExportCheckAnswer(ExportBundle(path: path), key: key)
    }

    private func verifierKey() throws -> VerifierKey? {
        do {
            return try key.map { try VerifierKey(parsing: $0) }
        } catch let fault as NoteFault {
            throw OperationFault(.usage, fault.message, place: "--key")
        }
    }
}
