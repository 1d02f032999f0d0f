import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation

extension Salvage {
    private static let heldByServer = OperationFault.Code("locked", .tryAgain)

    /// Heals a ledger, tells, and ends with 3 where it is not sound in the end.
    func mend(_ path: String, masterKey: [UInt8]) throws {
        // It changes pages that a server has mapped: nobody else may hold the ledger meanwhile.
        guard Blocking.wait({ await ServerClient.local(ofLedgerAt: path) }) == nil else {
            throw OperationFault(
                Self.heldByServer,
                "a server holds the ledger, and healing changes pages that it reads",
                place: path,
                hint: "stop the server, heal, and start it again"
            )
        }
        let open = try Invocation.current.settings.opening(.bytes(masterKey))
        let reading = Progress("bytes read")
        let answer = try LedgerHealing(of: path, options: open) {
            reading.finish()
            return try AuditChild.own.report(on: path, masterKey: masterKey, .everything)
        }
        .run { reading.show($0, of: $1) }
        reading.finish()
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        if !answer.isOK { throw ExitCode(.integrity) }
    }
}
