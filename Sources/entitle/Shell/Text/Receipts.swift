import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations

/// Prints what became of a request.
enum Receipts {
    /// `dryRun`: nil: it was recorded.
    static func print(
        _ recorded: Recorded,
        _ id: String,
        _ options: LedgerOptions,
        dryRun: ReceiptAnswer.DryRun? = nil
    ) throws {
        let receipt = try SignalReceipt(recorded.receipt) { OperationFault($0) }
        guard options.json else {
            let text = text(receipt, done: recorded.done)
            Terminal.line(dryRun == nil ? text : "dry run: nothing is recorded; \(text)")
            if let difference = dryRun?.difference { DiffText.print(difference) }
            return
        }
        var answer = ReceiptAnswer(receipt: receipt, id: id)
        recorded.tell(&answer)
        answer.dryRun = dryRun
        Terminal.line(AnswerText(answer))
    }

    private static func text(_ receipt: SignalReceipt, done: String) -> String {
        let place = receipt.sequence.map { " (event \($0))" } ?? ""
        return switch receipt.outcome {
        case .appended: done + place
        case .duplicate: "recorded before" + place
        case .known: "known already: nothing to record"
        }
    }
}
