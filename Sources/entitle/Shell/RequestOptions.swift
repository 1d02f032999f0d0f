import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LedgerAPI
import LedgerOperations
import LedgerServer

/// What every command that appends one event takes.
struct RequestOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions
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
    /// `customer`: nil: it is about nobody in particular, or about whom the decision finds. `asked`: what
    /// a server is asked, one that is named, or that holds the ledger; a dry run needs no other.
    func record(
        _ request: Request,
        about customer: CustomerID?,
        _ options: LedgerOptions,
        asking asked: AskedRequest,
        _ body: (Ledger) throws -> Recorded
    ) throws {
        if let client = try dryRun ? server.named() : server.writing(options) {
            let call = dryRun ? asked.call.rehearsed : asked.call
            let answer = try client.answer(call, as: ReceiptAnswer.self)
            return Receipts.print(answer, done: asked.done(answer), options)
        }
        guard dryRun else {
            let recorded: Recorded
            do {
                recorded = try options.withLedger(writing: true, body)
            } catch let fault as LogStorageFault where fault.code == .outcomeUnknown {
                throw OperationFault(inDoubt: fault, id: request.id, ofLedgerAt: options.path)
            }
            return try Receipts.print(recorded, request.id, options)
        }
        let (recorded, difference) = try options.withLedger(writing: false) { ledger in
            try ledger.rehearse(
                in: request.environment,
                at: { SystemClock.now() },
                about: { customer ?? $0.customer },
                body
            )
        }
        try Receipts.print(
            recorded,
            request.id,
            options,
            dryRun: ReceiptAnswer.DryRun(difference: difference)
        )
    }
}

/// A request as a server is asked for it.
struct AskedRequest {
    var call: ServerCall
    /// What was done, in words.
    var done: (ReceiptAnswer) -> String

    /// A call as it stands.
    init(_ call: ServerCall, done: @escaping (ReceiptAnswer) -> String) {
        self.call = call
        self.done = done
    }

    /// A call in the request's environment.
    init(
        _ method: ServerCall.Method,
        _ path: [String],
        _ body: [JSONMember?] = [],
        _ request: Request,
        done: @escaping (ReceiptAnswer) -> String
    ) {
        call = .change(
            method,
            ["v1"] + path,
            [("environment", request.environment.name)],
            body.isEmpty ? nil : .object(body.compactMap(\.self)),
            as: request.id
        )
        self.done = done
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
