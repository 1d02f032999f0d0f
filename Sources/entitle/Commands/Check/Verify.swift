import ArgumentParser
import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation
import Stores

/// The command `entitle verify`.
struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verifies recorded evidence again, by today's roots and revocations.",
        discussion: HelpText.discussion(
            """
            Exit 1 if some of it no longer verifies. With --record, each verdict that rested on such \
            evidence, and on nothing else, is recorded as failed: what it opened is closed from now \
            on. Doing so again adds nothing. RevenueCat signs no content, and where a store is not \
            configured nobody can judge; neither closes anything.
            """,
            examples: "entitle verify alice",
            "entitle verify --record"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var stores: StoresOptions
    @Flag(help: "Records the verdicts that failed.") var record = false
    @Argument(help: "A customer id (default: everybody).") var customer: String?

    func run() throws {
        let environment = try options.environment()
        let customer = try customer.map(CustomerArgument.checked)
        if let client = try record ? server.writing(options) : server.named() {
            let call = ServerCall.post(
                ["v1"] + (customer.map { ["customers", $0.text] } ?? []) + ["verify"],
                [("environment", environment.name), ("record", String(record))]
            )
            return try show(client.answer(call.untilDone, as: VerificationAnswer.self))
        }
        let verifier = try stores.evidenceVerifier(options)
        let progress = Progress("verified")
        let answer = try options.withLedger(writing: record) { ledger in
            try ledger.auditor.verifyEvidence(
                of: customer,
                environment: environment,
                recording: record,
                progress: { progress.show($0, of: $1) }
            ) { evidence, event, recordedAt in
                Blocking.wait {
                    await verifier.verdict(on: evidence, of: event, recordedAt: recordedAt)
                }
            }
        }
        progress.finish()
        try show(answer)
    }

    private func show(_ answer: VerificationAnswer) throws {
        if answer.counts.unchecked > 0 {
            Terminal.warn("nobody is configured to judge \(answer.counts.unchecked) payloads")
        }
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        if !answer.isOK { throw ExitCode(.no) }
    }
}
