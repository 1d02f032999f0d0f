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
        var answer = ReceiptAnswer(receipt: receipt, id: id)
        recorded.tell(&answer)
        answer.dryRun = dryRun
        print(answer, done: recorded.done, options)
    }

    /// Prints what became of a request, as it is answered.
    static func print(_ answer: ReceiptAnswer, done: String, _ options: LedgerOptions) {
        let text = answer.receipt.textLine(done: done)
        let isDryRun = answer.dryRun != nil
        Terminal.tell(
            AnswerText(answer),
            or: [isDryRun ? "dry run: nothing is recorded; \(text)" : text]
                + (answer.dryRun?.difference?.textLines ?? []),
            asJSON: options.json
        )
    }
}
