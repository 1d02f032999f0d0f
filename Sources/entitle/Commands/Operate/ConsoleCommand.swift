import ArgumentParser
import Encodings
import LedgerAPI
import LedgerOperations
import LedgerServer

/// The command `entitle console`.
struct ConsoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Prints a link that signs in to the server's console, once.",
        discussion: HelpText.discussion(
            """
            Asks the server that holds the ledger, or the one that --server names with a key that \
            may `admin`. The link counts for a quarter of an hour and for one use. Whoever follows it may \
            what an administrator may, until twelve hours passed without a request.
            """,
            examples: "entitle console"
        )
    )

    @OptionGroup var options: LedgerOptions
    @OptionGroup var server: ServerOptions

    func run() throws {
        guard let client = try server.writing(options) else {
            throw OperationFault(
                .unreachable,
                "no server holds this ledger",
                place: options.path,
                hint: "start one with `entitle serve`"
            )
        }
        let link = try client.read(.change(.post, ["v1", "console", "links"])) { json in
            json["path"]?.string.map { (path: $0, url: json["url"]?.string) }
        }
        // One that is named is reached as it was named.
        let url =
            server.server.map { $0.hasSuffix("/") ? $0.dropLast() + link.path : $0 + link.path }
            ?? link.url ?? link.path
        if options.json {
            Terminal.line(.object([JSONMember("url", .string(url))]))
        } else {
            Terminal.line(url)
        }
    }
}
