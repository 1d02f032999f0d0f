import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import LedgerOperations
import LedgerServer
import Stores

/// The command `entitle erase`.
struct Erase: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Erases customers: their names and keys are destroyed, the log stays whole.",
        discussion: HelpText.discussion(
            """
            What goes: the customer's stream and those of their links, in every environment, and \
            the purchases that they own, with every receipt that names them. What stays: facts \
            without names, for reports. A purchase that another owns stays with its owner. It \
            cannot be undone. The receipt is signed and names nobody; it lists the backups and \
            exports that still hold them.
            """,
            examples: "entitle erase alice --dry-run",
            "entitle erase alice --confirm alice"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var requested: RequestOptions
    @Argument(help: "A customer id.") var customer: String?
    @Option(help: "The customer id again: what is erased cannot be brought back.")
    var confirm: String?
    @Option(
        name: .customLong("customers"),
        help: ArgumentHelp(
            """
            A list of customers, an id a line, or - for standard input, erased together; --confirm takes \
            their number.
            """,
            valueName: "file"
        )
    )
    var file: String?

    func validate() throws {
        if (customer == nil) == (file == nil) {
            throw ValidationError("give a customer, or --customers FILE")
        }
    }

    func run() throws {
        let customers = try customers()
        let request = try requested.request(options)
        let asked = ServerCall.change(
            .post,
            ["v1", "erasures"],
            [],
            .object([JSONMember("customers", .strings(customers.map(\.text)))]),
            as: request.id
        ).untilDone
        if requested.dryRun { return show(try plan(customers, asked), of: customers) }
        try requireConfirmation(of: customers)
        if let client = try requested.server.writing(options) {
            return show(try client.answer(asked, as: ErasureAnswer.self))
        }
        switch try outcome(of: request, customers) {
        case .erased(let receipt): show(ErasureAnswer(receipt: receipt))
        case .unknown: show(ErasureAnswer(receipt: nil))
        case .refused(let refusal): throw OperationFault(refusal)
        }
    }

    private func outcome(
        of request: EntitlementLedger.Request,
        _ customers: [CustomerID]
    ) throws -> ErasureOutcome {
        var isRecorded = false
        do {
            // The ledger is closed by the fault as it is: one of the storage leaves its mark.
            return try options.withLedger(writing: true) { ledger in
                do {
                    return try ledger.eraser.erase(
                        customers,
                        request,
                        reading: StoredEvidenceNames()
                    )
                } catch {
                    // A ledger that does not tell leaves the fault as it is.
                    isRecorded = (try? ledger.eraser.isRecorded(request)) == true
                    throw error
                }
            }
        } catch let fault where isRecorded {
            throw OperationFault(
                unfinishedErasure: fault,
                id: request.id,
                ofLedgerAt: options.path
            )
        }
    }

    private func customers() throws -> [CustomerID] {
        if let customer { return [try CustomerArgument.checked(customer)] }
        return try file.map { try CustomerArgument.listed(in: $0) } ?? []
    }

    private func requireConfirmation(of customers: [CustomerID]) throws {
        let expected = customer ?? "\(customers.count)"
        guard expected.isSame(as: confirm) else {
            throw OperationFault(
                .usage,
                "an erasure is confirmed by saying whom it takes",
                place: "--confirm",
                hint: customer == nil
                    ? "--confirm \(expected), the number of customers; --dry-run shows what goes"
                    : "repeat the customer's id; --dry-run shows what goes"
            )
        }
    }

    private func plan(
        _ customers: [CustomerID],
        _ asked: ServerCall
    ) throws -> ErasurePlanAnswer {
        if let client = try requested.server.named() {
            return try client.answer(asked.rehearsed, as: ErasurePlanAnswer.self)
        }
        return try options.withLedger(writing: false) { ledger in
            try ledger.eraser.plannedErasure(of: customers, reading: StoredEvidenceNames())
        }
    }

    private func show(_ plan: ErasurePlanAnswer, of customers: [CustomerID]) {
        if options.json { return Terminal.line(AnswerText(plan)) }
        for stream in plan.streams {
            Terminal.line(
                "\(stream.subject)  \(stream.environment.name)  \(stream.events) events"
            )
        }
        if !plan.unknown.isEmpty {
            Terminal.note("nothing is known of \(plan.unknown.count) of them")
        }
        let (unknown, streams) = (Set(texts: plan.unknown), Set(plan.streams.map(\.subject)))
        let mentioned = Set(customers).count {
            !unknown.contains(Name($0.text)) && !streams.contains(.customer($0))
        }
        if mentioned > 0 {
            Terminal.note(
                "\(mentioned) of them stand in refused lines or stores' messages alone, which would go"
            )
        }
        Terminal.note("\(plan.streams.count) streams would lose their names and keys")
    }

    private func show(_ answer: ErasureAnswer) {
        if options.json { return Terminal.line(AnswerText(answer)) }
        guard let receipt = answer.receipt else {
            return Terminal.line("nothing is known of them: nothing to erase")
        }
        Terminal.write(receipt.note)
        Terminal.note("erased: \(receipt.streams.count) streams have neither name nor key")
        for backup in receipt.backups.missed {
            Terminal.note(
                "warning: delete this backup by \(backup.until), "
                    + "or make it reachable and back up anew: \(backup.path)"
            )
        }
        for export in receipt.exports {
            Terminal.note("warning: delete this export: \(export)")
        }
        for machine in receipt.machines {
            Terminal.note(
                "warning: this machine of the cluster has not followed yet, "
                    + "and is not to be used until it has: \(machine)"
            )
        }
        for keeper in receipt.database {
            Terminal.note("warning: the cluster's database keeps what was replaced: \(keeper)")
        }
    }
}
