import EventLog
import LMDB
import Testing

@testable import LMDBStorage

/// Whether a ledger's log waits for its disk.
struct `A log's commits` {
    private static let masterKey = [UInt8](repeating: 7, count: 32)

    private static func open(
        _ path: String,
        asNode: Bool,
        bootID: String?
    ) throws -> OpenLedgerDirectory {
        try OpenLedgerDirectory(
            at: path,
            masterKey: masterKey,
            forWriting: true,
            asNode: asNode,
            bootID: bootID,
            clock: { 0 },
            randomness: .system
        )
    }

    // A copy is made again where the machine ended; everything else waits, and so does a copy where
    // starts of the machine cannot be told apart.
    @Test(arguments: [(true, "boot", false), (true, nil, true), (false, "boot", true)])
    func `wait for the disk unless they are a copy's`(
        _ isNode: Bool,
        _ bootID: String?,
        _ waits: Bool
    ) async throws {
        try await withScratchDirectory { folder in
            let path = folder + "/ledger"
            try LedgerDirectory.createSample(at: path, masterKey: Self.masterKey)
            if isNode { try LedgerDirectory.markNode(at: path) }
            let directory = try Self.open(path, asNode: isNode, bootID: bootID)
            #expect(directory.log.statistics.isSynchronous == waits)
            #expect(directory.vault.environment.statistics.isSynchronous)
            try directory.log.reopen()
            #expect(directory.log.statistics.isSynchronous == waits)
            directory.close()
            // Closed, it waits for nothing, and counts in each start of the machine.
            #expect(!LedgerDirectory.isTorn(at: path, bootID: "another"))
        }
    }
}
