import LedgerOperations
import Testing

/// Which cluster a ledger's directory is a copy of.
struct `A machine's cluster file` {
    @Test(arguments: [nil, "other"], [ClusterFile.standardContactSeconds, 7200])
    func `is read as it was written`(schema: String?, contactSeconds: Int64) async throws {
        try await withScratchDirectory { folder in
            let file = ClusterFile(
                postgres: "service=ledger",
                schema: schema,
                node: "a",
                address: "https://a.example:8443",
                contactSeconds: contactSeconds
            )
            try file.write(toLedgerAt: folder)
            #expect(try ClusterFile.read(ofLedgerAt: folder) == file)
        }
    }
}
