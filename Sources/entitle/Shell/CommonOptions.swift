import ArgumentParser

/// What every command takes, one that opens no ledger too: what is written around commands passes it to each.
struct CommonOptions: ParsableArguments {
    @Option(help: "The ledger's directory (default: $ENTITLE_LEDGER, else ./ledger).")
    var ledger: String?

    @Flag(help: "One JSON document on standard output; NDJSON where a command streams.")
    var json = false

    @Option(
        name: [.customLong("environment"), .customShort("e")],
        help: "production (default), sandbox or local."
    )
    var environmentName: String?
}
