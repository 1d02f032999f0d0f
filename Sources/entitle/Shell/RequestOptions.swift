import ArgumentParser
import EntitlementLedger
import Entitlements
import Foundation
import LedgerAPI
import LedgerOperations

/// What every command that appends one event takes.
struct RequestOptions: ParsableArguments {
    @Option(help: "An idempotency key: repeating it changes nothing (default: a new one).")
    var id: String?
    @Flag(help: "Says what would change now, and records nothing.") var dryRun = false

    func request(_ options: LedgerOptions, source: String = Source.support) throws -> Request {
        let id = id ?? UUID().uuidString.lowercased()
        guard Identifier.isValid(id) else {
            throw OperationFault(.usage, "not an id", place: "--id")
        }
        return Request(id: id, source: source, environment: try options.environment())
    }

    /// Records a request and prints what became of it; with `--dry-run` in a draft of the ledger,
    /// and what differs for the customer.
    ///
    /// `customer`: nil: it is about nobody in particular, or about whom the decision finds.
    func record(
        _ request: Request,
        about customer: CustomerID?,
        _ options: LedgerOptions,
        _ body: (Ledger) throws -> Recorded
    ) throws {
        guard dryRun else {
            let recorded = try options.withLedger(writing: true, body)
            return try Receipts.print(recorded, request.id, options)
        }
        let (recorded, difference) = try options.withLedger(writing: false) { ledger in
            let draft = try ledger.draft()
            let before = try draft.questions.size()
            let recorded = try body(draft)
            let now = SystemClock.now()
            let difference = try (customer ?? recorded.customer).map { customer in
                try draft.questions.difference(
                    DifferenceQuestion(
                        customer: customer,
                        environment: request.environment,
                        from: BitemporalPoint(at: now, knownAt: .sequence(before)),
                        to: BitemporalPoint(at: now, knownAt: .everything)
                    )
                )
            }
            try draft.close()
            return (recorded, difference)
        }
        try Receipts.print(
            recorded,
            request.id,
            options,
            dryRun: ReceiptAnswer.DryRun(difference: difference?.answer)
        )
    }
}

/// What became of a request, and how it is told.
struct Recorded {
    var receipt: Receipt
    /// What was done, in words.
    var done: String
    /// Whom it turned out to be about, where the request does not say it; nil: nobody.
    var customer: CustomerID?
    /// Says in its answer what else there is to tell.
    var tell: (inout ReceiptAnswer) -> Void = { _ in }
}
