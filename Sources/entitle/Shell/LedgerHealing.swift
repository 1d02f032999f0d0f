import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations

extension Salvage {
    /// Heals a ledger, tells, and ends with 3 where it is not sound in the end.
    func mend(_ path: String, masterKey: [UInt8]) throws {
        let open = try Invocation.current.settings.opening(.bytes(masterKey))
        let reading = Progress("bytes read")
        let answer = try LedgerHealing(of: path, options: open) {
            reading.finish()
            return try AuditChild.own.report(on: path, masterKey: masterKey, .everything)
        }
        .run { reading.show($0, of: $1) }
        reading.finish()
        if options.json { Terminal.line(AnswerText(answer)) } else { Self.print(answer) }
        if !answer.isOK { throw ExitCode(.integrity) }
    }

    private static func print(_ answer: HealAnswer) {
        for part in answer.healed {
            let work = part.page.map { "page \($0) is a copy of page \(1 - $0)" } ?? "made anew"
            Terminal.line("healed \(part.name): \(work)")
        }
        Terminal.line(
            answer.isOK
                ? answer.healed.isEmpty ? "sound: there was nothing to heal" : "sound"
                : "DAMAGED: \(answer.faults.count) faults; `entitle audit` names them, and what to do"
        )
    }
}
