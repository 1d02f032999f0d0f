import EntitlementLedger
import Entitlements
import LedgerAPI
import LedgerOperations
import Testing

/// What a process takes, by the kernel's lines.
struct `A process's figures` {
    private static let system = "cpu 1 2 3\nbtime 1700000000\nprocesses 5\n"

    private static func line(name: String, _ numbers: String) -> String {
        "7 (\(name)) S \(numbers)"
    }

    /// Fields 4 to 24 of proc_pid_stat(5).
    private static let numbers =
        "1 7 7 0 -1 4194560 900 0 1 0 250 50 0 0 20 0 9 0 12345 1048576 300"

    @Test(arguments: ["entitle", "a) S 1 2 (b", ")"])
    func `are read past any name`(_ name: String) throws {
        let figures = try #require(
            ProcessFigures(
                stat: Self.line(name: name, Self.numbers),
                system: Self.system,
                .init(ticks: 100, page: 4096)
            )
        )
        #expect(figures.processorMicroseconds == 3_000_000)
        #expect(figures.startSeconds == 1_700_000_123)
        #expect(figures.virtualBytes == 1_048_576)
        #expect(figures.residentBytes == 300 * 4096)
    }

    // The control: a line that is none tells nothing.
    @Test(arguments: ["", "7 (entitle) S 1 2", "7 (entitle)", "7 entitle S"])
    func `are none of what is no such line`(_ line: String) {
        #expect(ProcessFigures(stat: line, system: Self.system, .init(ticks: 1, page: 1)) == nil)
    }

    #if os(Linux)
    @Test func `are told of this one`() throws {
        let figures = try #require(ProcessFigures.current())
        #expect(figures.residentBytes > 1 << 20)
        #expect(figures.virtualBytes > figures.residentBytes)
        #expect(figures.startSeconds > 1_600_000_000)
        #expect((figures.openDescriptors ?? 0) > 2)
    }
    #endif
}

/// What whoever runs a ledger watches of its files.
struct `A ledger's figures` {
    @Test func `tell room, readers and the age of copies`() throws {
        try FileLedger.with { ledger in
            try ledger.openWithFiles { open in
                func figures(archive: String? = nil) -> LedgerFigures {
                    LedgerFigures(of: open, at: ledger.path, archive: archive)
                }
                let archive = ledger.folder + "/archive"
                #expect(figures().maps.map(\.part) == ["log", "vault"])
                for map in figures().maps {
                    #expect(map.usedByteCount > 0 && map.usedByteCount < map.byteCount)
                    #expect(map.readers <= map.readerLimit && map.readerLimit > 0)
                }
                #expect((figures().disk?.free ?? 0) > 0)
                let before = try #require(figures().disk?.identifiers)
                _ = try open.ledger.identifiers.readOn()
                let disk = try #require(figures().disk)
                let identifiers = try #require(disk.identifiers)
                #expect(identifiers > before && identifiers < disk.vault)
                #expect((figures().diskSize ?? 0) > (figures().disk?.free ?? .max) / 2)
                #expect(figures().lastBackup == nil && figures().archive == nil)
                #expect(figures().unsignedSince != nil)
                #expect(figures(archive: archive).archive?.missingSince != nil)
                _ = try open.ledger.prover.checkpoint()
                #expect(figures().unsignedSince == nil, "all is signed")
                let kept = try Publication.archive(at: archive, ofLedgerAt: ledger.path)
                _ = try open.ledger.archiver.archive(to: kept.store, manifest: kept.manifest)
                let behind = figures(archive: archive).archive
                #expect(behind != nil && behind?.missingSince == nil, "all is in it")
            }
        }
    }
}
