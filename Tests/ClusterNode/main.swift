import EventLog
import Foundation
import PostgresStorage

// A node without a ledger, for tools/cluster: follows, takes the lease when it stands still, appends
// records that name themselves, and says on its output what it was told. It may be killed at any time.
//
// cluster-node create POSTGRES SCHEMA [asynchronous]
// cluster-node run POSTGRES SCHEMA NAME [OPTION…]      see `NodeOptions`
// cluster-node measure POSTGRES SCHEMA RECORDS callers|groups|lag N   see `Measure`
//
// Says, a line each: `led TERM`, `sent ID`, `acked ID SEQUENCE`, `unknown ID`, `refused ID` (it does
// not stand), `open ID` (nobody found out), `lost`, `read SIZE ROOT` (confirmed), `away SIZE`,
// `large MILLISECONDS`, `diverged`.

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 3, let schema = JournalSchema(words[2]) else {
    say("usage: cluster-node create|run|measure POSTGRES SCHEMA …")
    exit(64)
}
switch words[0] {
case "create":
    try create(words[1], schema, allowsAsynchronous: words.contains("asynchronous"))
case "measure":
    try create(words[1], schema, allowsAsynchronous: false)
    try Measure(words[1], schema, records: words[3]).run(words[4], Int(words[5]) ?? 1)
default:
    let options = NodeOptions(words.dropFirst(4))
    try Node(PostgresJournal(words[1], schema: schema, limits: options.limits), words[3], options)
        .run()
}

func create(_ place: String, _ schema: JournalSchema, allowsAsynchronous: Bool) throws {
    try JournalMaker(place, schema: schema).finish(
        manifest: "{}",
        end: .empty,
        keys: [],
        generation: 0,
        allowsAsynchronous: allowsAsynchronous
    )
}

/// Tells whoever started it, whole or not at all.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

extension [UInt8] {
    var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
