import ArgumentParser
import EntitlementLedger
import Entitlements
import LMDBStorage
import LedgerAPI
import LedgerOperations
import LedgerServer
import Presentation
import Stores

/// The command `entitle doctor`.
struct Doctor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "What is wrong, in words, with what to do: exit 1 where it is more than a note.",
        discussion: HelpText.discussion(
            """
            Looks at the directory, the log, copies of it, the machine, what is set, the stores, \
            and the server that holds the ledger. Changes nothing. Exit 2: it could not look. With \
            --server that server looks, where it stands, asked with a key of admin.
            """,
            examples: "entitle doctor",
            "entitle doctor --json --without-key",
            "entitle doctor --server https://ledger.example.com --token-file key.txt"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions
    @OptionGroup var stores: StoresOptions
    @Flag(help: "Without the master key: what needs a name is not looked at.")
    var withoutKey = false

    func run() throws {
        if let client = try server.named() {
            if withoutKey { try server.refuse() }
            let call = ServerCall.get(["v1", "doctor"])
            return try tell(client.answer(call.untilDone, as: DoctorAnswer.self))
        }
        let answer: DoctorAnswer
        do {
            answer = try look()
        } catch {
            var fault = OperationFault(telling: error, ofLedgerAt: options.path)
            fault.code = OperationFault.Code(fault.code.rawValue, .failed)
            throw fault
        }
        try tell(answer)
    }

    private func tell(_ answer: DoctorAnswer) throws {
        Terminal.tell(AnswerText(answer), or: answer.textLines, asJSON: options.json)
        if !answer.isOK { throw ExitCode(.no) }
    }

    private func look() throws -> DoctorAnswer {
        let path = options.path
        var settings = Invocation.current.settings
        settings.set(.keyFile, byFlag: options.keyFile)
        settings.set(.stores, byFlag: stores.stores)
        var checkup = Checkup(
            ofLedgerAt: path,
            settings,
            Machine(ofLedgerAt: path),
            at: SystemClock.now()
        )
        try checkup.lookAtDirectory(options.keyOptions)
        checkup.lookAtMachine()
        let configured = configuration(&checkup)
        let server = Blocking.wait { await ServerClient.local(ofLedgerAt: path) }
        if let server {
            try ask(server, &checkup)
        } else {
            checkup.lookAtWriter()
        }
        let key = withoutKey ? nil : masterKey(&checkup)
        do {
            guard let key else {
                try options.withKeylessLedger {
                    try look(at: $0, configured, &checkup, hasNames: false)
                }
                return checkup.answer
            }
            let audit = try AuditChild.own.report(on: path, masterKey: key, .quick)
            checkup.lookAtAudit(audit)
            // A damaged file may end its reader; damaged views are discarded.
            guard audit.faults.allSatisfy({ $0.isKnown || $0.kind == .view }) else {
                return checkup.answer
            }
            try options.withLedger(writing: false, isCheck: true) { ledger in
                try look(at: ledger, configured, &checkup)
                checkup.lookAtPurchases(
                    try ledger.questions.purchaseDoubts(in: .production, at: checkup.now, limit: 0)
                )
                guard server == nil, let webhooks = try Webhooks(reading: path, ledger) else {
                    return
                }
                defer { webhooks.close() }
                checkup.lookAtWebhooks(try webhooks.all())
            }
        } catch {
            checkup.add(.unreadable, error, do: "`entitle audit` says what is damaged")
        }
        return checkup.answer
    }

    /// Looks at what needs no name.
    private func look(
        at ledger: Ledger,
        _ configured: StoresConfiguration?,
        _ checkup: inout Checkup,
        hasNames: Bool = true
    ) throws {
        var status = try ledger.auditor.status()
        status.disk = try StatusAnswer.DiskUse(ofLedgerAt: options.path, ledger.auditor)
        try checkup.lookAtLog(ledger.auditor, status, hasNames: hasNames)
        checkup.lookAtSignals(status.completeness, configured)
        let begun = checkup
        checkup = try Blocking.value {
            var checkup = begun
            await checkup.lookAtServer(ledger)
            return checkup
        }
    }

    /// What is configured of the stores; nil: nothing, or nothing that can be read.
    private func configuration(_ checkup: inout Checkup) -> StoresConfiguration? {
        do {
            let configured = try stores.configuration(at: options.path)
            checkup.lookAtStores(configured)
            if let configured { checkup.lookAtRoots(configured) }
            return configured
        } catch {
            // What is wrong with it is said where the server's configuration is looked at.
            return nil
        }
    }

    private func ask(_ server: ServerClient, _ checkup: inout Checkup) throws {
        let begun = checkup
        checkup = try Blocking.value {
            var checkup = begun
            do {
                try await server.look(for: &checkup)
            } catch {
                checkup.add(.serverSilent, error, do: "look at the server's log")
            }
            return checkup
        }
    }

    private func masterKey(_ checkup: inout Checkup) -> [UInt8]? {
        do {
            return try options.keyOptions.read()
        } catch {
            checkup.add(.keyUnusable, error, do: "give the key with --key-file or ENTITLE_KEY_FILE")
            return nil
        }
    }
}
