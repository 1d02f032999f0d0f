import ArgumentParser
import DurableFiles
import Encodings
import Glibc
import LedgerAPI
import LedgerOperations

/// The command: an event-sourced entitlement ledger.
@main
struct Entitle: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "entitle",
        abstract: "What was this customer entitled to at T, as known at R, and why?",
        discussion: """
            Exit codes: 0 yes or done, 1 a well-formed no, 2 failed, 3 integrity fault, 4 conflict,
            64 usage, 65 bad input data, 66 no input, 69 unreachable, 70 internal, 73 cannot create,
            74 I/O, 75 try again, 77 not permitted, 78 configuration.
            """,
        version: ProductVersion.current,
        groupedSubcommands: [
            CommandGroup(name: "START", subcommands: [Demo.self, Init.self, Import.self]),
            CommandGroup(
                name: "ASK",
                subcommands: [
                    Show.self, Can.self, Explain.self, Timeline.self, Diff.self, WhatIf.self,
                    Report.self, Products.self, Events.self, Tail.self, Export.self, Compare.self,
                ]
            ),
            CommandGroup(
                name: "CHANGE",
                subcommands: [
                    CatalogCommand.self, Claim.self, Transfer.self, Release.self, Grant.self,
                    Withdraw.self, Trial.self, LinkCommand.self, Use.self, Sync.self,
                    Extend.self, Consumption.self, Erase.self,
                ]
            ),
            CommandGroup(
                name: "CHECK",
                subcommands: [
                    Audit.self, Replay.self, Verify.self, Drift.self, Rebuild.self,
                    CheckpointCommand.self, Prove.self, CheckProof.self, CheckExport.self,
                    Salvage.self,
                ]
            ),
            CommandGroup(name: "KEEP", subcommands: [Archive.self, Backup.self, Restore.self]),
            CommandGroup(
                name: "OPERATE",
                subcommands: [
                    Serve.self, ConsoleCommand.self, Keys.self, WebhookCommand.self, Listen.self,
                    ConfigCommand.self,
                    TestNotification.self,
                    Simulate.self, Status.self, Doctor.self,
                    Bench.self, ClusterCommand.self, SchemaCommand.self,
                ]
            ),
        ]
    )

    /// A stream that was closed is nothing: the next file that is opened would have its number, and what is
    /// said to people would be written into a ledger.
    private static func openStandardStreams() {
        // The lowest number that is free is taken first.
        while let stream = try? DurableFile.openForAppending("/dev/null") {
            guard stream > STDERR_FILENO else { continue }
            close(stream)
            break
        }
    }

    /// Refuses an argument that is not UTF-8: the system's bytes are read with U+FFFD in the place of what
    /// is none, and the ids of two customers would be one.
    ///
    /// - Throws: `OperationFault`, for one that holds U+FFFD itself too.
    private static func requireText(_ arguments: some Sequence<String>) throws {
        guard !arguments.contains(where: { $0.unicodeScalars.contains("\u{FFFD}") }) else {
            throw OperationFault(
                .usage,
                "an argument is not UTF-8",
                hint: "give it as UTF-8; what holds U+FFFD is read from a file, or over HTTP"
            )
        }
    }

    /// Whether a command only says how others are typed: `help` does, and one that has others below it.
    private static func isHelp(_ command: any ParsableCommand) -> Bool {
        let configuration = type(of: command).configuration
        return configuration.commandName == "help" || !configuration.subcommands.isEmpty
    }

    static func main() async {
        openStandardStreams()
        let wantsJSON = CommandLine.arguments.contains("--json")
        DeathReport.install(json: wantsJSON)
        ProcessSecrets.closeMemory()
        let arguments = CommandLine.arguments.dropFirst()
        var typed = _commandName
        do {
            // This program hands its own child what it read as text.
            if !arguments.starts(with: ["audit", "--in-process"]) { try requireText(arguments) }
            typed = try UnknownCommand.refuse(arguments)
            var command = try parseAsRoot()
            // How a command is typed is said whatever is set.
            if !isHelp(command) { Invocation.current.settings = try Settings.load() }
            ProcessSecrets.forgetVariables()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let fault as OperationFault {
            Invocation.end(fault, json: wantsJSON)
        } catch let code as ExitCode {
            Glibc.exit(code.rawValue)
        } catch  where exitCode(for: error) == .validationFailure {
            let hint = "`\(typed) --help` says how it is typed"
            Invocation.end(
                OperationFault(.usage, message(for: error), hint: hint),
                json: wantsJSON
            )
        } catch  where exitCode(for: error) == .success {
            exit(withError: error)  // Help and version: ArgumentParser's own words.
        } catch {
            Invocation.end(error, json: wantsJSON)
        }
    }
}
