import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerAPI
import LedgerOperations
import LedgerServer

/// The command `entitle export`.
struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes a customer's log for support, or a range of the log for an auditor.",
        discussion: HelpText.discussion(
            """
            A directory with events, evidence, explanations and records with their proofs, tied
            together by a signed manifest: `check-export` verifies it without a ledger. The ledger
            notes where it was written, so that an erasure can name it. With --server that server \
            streams it, a customer's to a key of support, a range to one of audit or admin.
            """,
            examples: "entitle export --customer alice --output alice-export",
            "entitle export --from 2026-01-01 --to 2026-04-01 --output first-quarter",
            "entitle export --from 0 --output all --server https://ledger.example.com "
                + "--token-file key.txt"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var point: PointOptions
    @OptionGroup var access: AccessOptions
    @Option(help: "A customer id.") var customer: String?
    @Option(
        parsing: .unconditional,
        help: "Of a range: from this sequence, or recorded at or after this instant."
    )
    var from: String?
    @Option(
        parsing: .unconditional,
        help: "Of a range: up to this sequence, or recorded before this instant; exclusive."
    )
    var to: String?
    @Option(help: "A directory outside of the ledger; it is made.") var output: String
    @Option(
        help: "ndjson (default), csv, sqlite or html; may be repeated.",
        transform: ChoiceArgument.read
    )
    var format: [ExportFormat] = []
    @Option(
        help: """
            What is hidden: none; signatures (default for a customer): nothing can be handed in \
            again; names: also customer ids, request ids and free texts; all (default for a \
            range): also purchases and evidence.
            """,
        transform: ChoiceArgument.read
    )
    var redact: ExportRedaction?
    @Flag(help: "Goes on with an export into this directory that was stopped.") var resume = false

    func validate() throws {
        if output == "-" {
            throw ValidationError(
                "an export is a directory: --output names one; `entitle events --customer ID "
                    + "--json` writes events to standard output"
            )
        }
        if access.isNoted && customer == nil {
            throw ValidationError("--reason is noted of a customer")
        }
        guard (customer == nil) != (from == nil && to == nil) else {
            throw ValidationError("either --customer, or --from and --to")
        }
        if customer == nil && format.contains(.html) {
            throw ValidationError("a page is of one customer: --format html goes with --customer")
        }
    }

    func run() throws {
        try ExportPlace.check(output, ledger: options.path)
        if let client = try server.named() { return tell(try receive(from: client)) }
        let progress = Progress("exported")
        try prepareLog()
        tell(try options.withLedger(writing: false) { try write($0, progress) })
    }

    private func tell(_ answer: ExportAnswer) {
        if options.json { return Terminal.line(AnswerText(answer)) }
        Terminal.line(
            "exported \(answer.records) records into \(output) "
                + "(redaction \(answer.redaction.rawValue))"
        )
    }

    /// Notes the access, and keeps a checkpoint that covers everything; beside a server, which holds the writer's lock, the
    /// server notes it, and the export signs one itself.
    private func prepareLog() throws {
        do {
            try options.withLedger(writing: true) { ledger in
                if let customer = try customer.map(CustomerArgument.checked) {
                    let environment = try options.environment()
                    try access.note("export", of: customer, environment, ledger)
                }
                _ = try ledger.prover.checkpoint()
            }
        } catch let fault as LedgerOpenFault where [.locked, .clustered].contains(fault.code) {
            guard let customer, let reason = access.reason else { return }
            let path = options.path
            guard let server = Blocking.wait({ await ServerClient.local(ofLedgerAt: path) }) else {
                throw fault
            }
            let question = CustomerQuestion(
                customer: try CustomerArgument.checked(customer),
                environment: try options.environment(),
                point: try point.point()
            )
            let call = question.call("export", because: reason).headOnly
            _ = try Blocking.value { try await server.answer(to: call) }
        }
    }

    /// Writes what a server streams; where it does not come whole, nothing is left of it.
    private func receive(from client: ServerClient) throws -> ExportAnswer {
        // A database is made where the ledger is, and what was stopped there goes on there.
        if resume || format.contains(.sqlite) { try server.refuse() }
        let (call, output) = (try call(), output)
        return try Blocking.value {
            let receiver = try ExportReceiver(into: output)
            do {
                try await client.stream(call.untilDone) { try receiver.take($0) }
                return try receiver.finish()
            } catch {
                receiver.discard()
                throw error
            }
        }
    }

    private func call() throws -> ServerCall {
        var query = redact.map { [(name: "redact", value: $0.rawValue)] } ?? []
        if !format.isEmpty {
            query.append(("format", format.map(\.rawValue).joined(separator: ",")))
        }
        if let customer {
            return CustomerQuestion(
                customer: try CustomerArgument.checked(customer),
                environment: try options.environment(),
                point: try point.point()
            )
            .call("export", more: query, because: access.reason)
        }
        for (name, text) in [("from", from), ("to", to)] {
            guard let text else { continue }
            let bound =
                UInt64(text) == nil
                ? try InstantArgument.parse(text, place: "--" + name).description : text
            query.append((name, bound))
        }
        return .get(["v1", "export"], query)
    }

    private func write(_ ledger: Ledger, _ progress: Progress) throws -> ExportAnswer {
        let run = try prepare(ledger)
        let manifest = try run.write { progress.show($0, of: $1) }
        progress.finish()
        return ExportAnswer(
            path: run.path,
            records: run.export.recordCount,
            redaction: run.export.plan.redaction,
            manifest: manifest.digest.hex
        )
    }

    private func prepare(_ ledger: Ledger) throws -> ExportRun {
        resume
            ? try ExportRun(resuming: output, of: ledger, at: options.path)
            : try ExportRun(plan(ledger), into: output, of: ledger, at: options.path)
    }

    private func plan(_ ledger: Ledger) throws -> ExportPlan {
        let formats = format.isEmpty ? [.ndjson] : format
        guard let customer else {
            let from = try from.map { try sequence($0, "--from", ledger) } ?? 0
            let to = try to.map { try sequence($0, "--to", ledger) } ?? ledger.questions.size()
            return try ledger.exporter.exportPlan(
                of: from..<max(from, to),
                redaction: redact ?? .all,
                formats: formats
            )
        }
        return try ledger.exporter.exportPlan(
            of: CustomerQuestion(
                customer: try CustomerArgument.checked(customer),
                environment: try options.environment(),
                point: try point.point()
            ),
            redaction: redact ?? .signatures,
            formats: formats
        )
    }

    private func sequence(_ text: String, _ place: String, _ ledger: Ledger) throws -> UInt64 {
        if let sequence = UInt64(text) { return sequence }
        return try ledger.exporter.firstSequence(
            recordedFrom: try InstantArgument.parse(text, place: place)
        )
    }
}
