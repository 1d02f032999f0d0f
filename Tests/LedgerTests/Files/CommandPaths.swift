/// What the command's options and arguments are for, as far as files go: each is in one of the lists.
enum CommandPaths {
    /// A file that is written.
    static let writtenFiles: Set<String> = [
        "whatif --output", "compare revenuecat --output", "prove --output", "checkpoint --publish",
        "audit --html",
        "timeline --svg", "simulate authority <file>", "simulate authority --root",
        "bench --partner-records",
    ]

    /// A folder in which files are written.
    static let writtenFolders: Set<String> = [
        "--ledger", "export --output", "backup <directory>", "archive --to", "restore --into",
        "salvage --into", "bench --directory", "--out", "cluster leave <directory>",
    ]

    /// A file or folder that is read only.
    static let read: Set<String> = [
        "--key-file", "--token-file", "--stores", "init --catalog", "serve --catalog",
        "whatif --catalog",
        "catalog diff <file>", "catalog publish <file>", "catalog validate <file>",
        "catalog gates --file", "import <files>", "claim --purchase-data",
        "claim --signed-transaction", "sync --from", "compare revenuecat --from",
        "compare revenuecat --customers", "products --from", "--scenarios",
        "show --questions",
        "replay --tokens", "erase --customers", "audit --against", "audit --archive",
        "checkpoint --cosignature", "check-proof <file>", "check-proof --record",
        "check-proof --old", "prove --consistency", "check-export <path>", "restore <source>",
        "restore --vault", "salvage <directory>", "salvage --archive", "salvage --backup",
        "salvage --from", "salvage --checkpoint", "simulate trigger --authority",
        "keys rotate-master --new-key-file", "serve --tls-certificate", "serve --tls-key",
        "serve --customer-keys",
    ]

    /// No path at all.
    static let others: Set<String> = [
        "--accept-clock", "--after", "--amount", "--app-apple-id", "--at", "--baseline-windows",
        "--bundle", "--deliver-to", "--rate", "--scenario",
        "--because", "--confirm", "--count", "--days", "--delivery", "--customer",
        "demo --customers", "demo --store-port", "--duplicate", "--effective",
        "--environment", "--events",
        "--expires", "--feature", "--for", "--format", "--grant-id", "--host", "--id", "--key",
        "--key-command", "--key-fd", "--known", "--known-sequence", "--lang", "--level", "--limit",
        "--locale", "--lose", "--outage", "--seed", "--shuffle", "--times", "<scenario>",
        "--log-level", "--minimum-count", "--name", "--node", "--address", "--on-error", "--origin",
        "--percentage",
        "--port",
        "--postgres", "--preference", "--purchase", "--reason", "--redact", "--renewal-info",
        "--runs",
        "--sample", "--samples", "--schema",
        "--scope", "--score", "--since", "--source", "--store", "--storefront",
        "--thresholds", "--tier", "--time", "--token",
        "--transaction", "--type", "--undo", "--unit", "--until", "--until-sequence",
        "--window-minutes", "--witness", "--zone", "<alias>", "<customer>", "<feature>",
        "<grant-id>", "<id>", "<node>",
        "<kind>", "<purchase>", "<sequence>", "<subcommands>", "<topics>", "<transaction>",
        "<trial-id>",
        "cluster init --from", "events --from", "events --to", "export --from", "export --to",
        "report --from", "report --to", "transfer --to", "webhooks resend --from",
        "webhooks resend --to",
        "--forward-to", "--of", "--server", "--state", "<messages>", "<url>", "<webhook>",
    ]

    static let all = [writtenFiles, writtenFolders, read, others]
}
