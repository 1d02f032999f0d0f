import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import Presentation

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
            let text = receipt.textLine(done: recorded.done)
            Terminal.line(dryRun == nil ? text : "dry run: nothing is recorded; \(text)")
            if let difference = dryRun?.difference { Terminal.lines(difference.textLines) }
            return
        }
        var answer = ReceiptAnswer(receipt: receipt, id: id)
        recorded.tell(&answer)
        answer.dryRun = dryRun
        Terminal.line(AnswerText(answer))
    }

    /// Prints what a server said became of a request.
    static func print(_ answer: ReceiptAnswer, done: String, _ options: LedgerOptions) {
        Terminal.tell(
            AnswerText(answer),
            or: [answer.receipt.textLine(done: done)],
            asJSON: options.json
        )
    }
}
