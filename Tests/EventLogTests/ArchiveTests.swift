import Crypto
import EventLog
import Testing

/// A log that was archived at several sizes.
private struct ArchivedLog {
    let signer: NoteSigner
    let log = MemoryLog()
    private(set) var notes: [SignedNote] = []

    static let sizes = [3, 256, 300, 65_700, 65_900]

    /// `fork`: the first entry that is another log's; nil: none is.
    init(_ sizes: [Int] = Self.sizes, fork: Int? = nil) throws {
        let key = try Curve25519.Signing.PrivateKey(
            rawRepresentation: [UInt8](repeating: 7, count: 32)
        )
        signer = try NoteSigner(name: "ledger.test/log", privateKey: key)
        var written = 0
        for size in sizes {
            try log.append(
                entries: (written..<size).map { place in
                    Array("\(place < fork ?? .max ? "entry" : "other") \(place)".utf8)
                }
            )
            notes.append(try signer.checkpoint(of: log))
            written = size
        }
    }

    func writer(_ store: MemoryArchive) -> ArchiveWriter {
        ArchiveWriter(log: log, store: store, key: signer.verifierKey)
    }

    func audit(_ store: MemoryArchive, log: (any LogStorage)? = nil) -> ArchiveAudit {
        var audit = ArchiveAudit(ArchiveReader(store), key: signer.verifierKey)
        audit.run(against: log)
        return audit
    }
}

struct `An archive` {
    @Test func `holds what each of its checkpoints promises`() throws {
        let archived = try ArchivedLog()
        let store = MemoryArchive()
        var writer = archived.writer(store)
        for (place, note) in archived.notes.enumerated() {
            let size = UInt64(ArchivedLog.sizes[place])
            #expect(try writer.write(upTo: note) == size)
            let audit = archived.audit(store, log: archived.log)
            #expect(audit.findings.isEmpty)
            #expect(audit.size == size)
            #expect(audit.checkpoints == 1 + place)
            // C2SP tlog-tiles: partial tiles stay until the full one is there.
            for coordinate in TileCoordinate.partialTiles(size: size) {
                #expect(store.exists(coordinate.path))
            }
        }
        let partial = store.files.keys.filter { $0.contains(".p/") }.sorted()
        #expect(
            partial == [
                "tile/0/257.p/108", "tile/1/001.p/1", "tile/2/000.p/1",
                "tile/entries/257.p/108",
            ]
        )
    }

    @Test func `is left as it is by an older checkpoint, and by the same one`() throws {
        let archived = try ArchivedLog()
        let store = MemoryArchive()
        var writer = archived.writer(store)
        _ = try writer.write(upTo: archived.notes[2])
        let files = store.files
        #expect(try writer.write(upTo: archived.notes[1]) == 300)
        #expect(try writer.write(upTo: archived.notes[2]) == 300)
        #expect(store.files == files)
    }

    // A writer may end at any moment: at each file what stands is sound, and the next writer ends
    // with the same files.
    @Test func `goes on from wherever its writer was stopped`() throws {
        let archived = try ArchivedLog([300, 17_000])
        let whole = MemoryArchive()
        var writer = archived.writer(whole)
        for note in archived.notes { _ = try writer.write(upTo: note) }
        var stops = 0
        for changes in stride(from: 0, to: 150, by: 13) {
            let store = MemoryArchive(stoppedAfter: changes)
            var stopped = archived.writer(store)
            do {
                for note in archived.notes { _ = try stopped.write(upTo: note) }
            } catch is MemoryArchive.Stopped {
                stops += 1
            }
            if store.exists(ArchiveLayout.checkpoint) {
                let audit = archived.audit(store)
                #expect(audit.findings.isEmpty, "stopped after \(changes) changes")
            }
            let next = MemoryArchive(store.files)
            var resumed = archived.writer(next)
            for note in archived.notes { _ = try resumed.write(upTo: note) }
            #expect(next.files == whole.files, "stopped after \(changes) changes")
        }
        #expect(stops > 9)
    }

    // Its first writer was stopped before the checkpoint; the ledger's format may have become another since.
    @Test func `is begun again by its ledger, and by no other`() throws {
        let archived = try ArchivedLog([300])
        func manifest(of ledger: String, format: Int) -> [UInt8] {
            Array(#"{"format":\#(format),"ledger":"\#(ledger)"}"#.utf8)
        }
        let store = MemoryArchive(stoppedAfter: 1)
        var stopped = archived.writer(store)
        #expect(throws: MemoryArchive.Stopped.self) {
            try stopped.write(upTo: archived.notes[0], manifest: manifest(of: "ab", format: 1))
        }
        let next = MemoryArchive(store.files)
        #expect(next.exists(ArchiveLayout.manifest), "the control")
        var other = archived.writer(next)
        #expect(throws: ArchiveFault(.forked, "there is the ledger.json of another ledger")) {
            try other.write(upTo: archived.notes[0], manifest: manifest(of: "cd", format: 1))
        }
        var resumed = archived.writer(next)
        let size = try resumed.write(
            upTo: archived.notes[0],
            manifest: manifest(of: "ab", format: 2)
        )
        #expect(size == 300)
        #expect(archived.audit(next, log: archived.log).findings.isEmpty)
    }

    // A log that was restored to less went on otherwise than what stands behind the archive's checkpoint.
    @Test func `is not gone on with behind bundles of a history that is lost`() throws {
        let lost = try ArchivedLog([300, 65_700])
        let store = MemoryArchive(stoppedAfter: 400)
        var stopped = lost.writer(store)
        _ = try stopped.write(upTo: lost.notes[0])
        #expect(throws: MemoryArchive.Stopped.self) { try stopped.write(upTo: lost.notes[1]) }
        let next = MemoryArchive(store.files)
        #expect(next.exists("tile/entries/100"), "the control")
        let restored = try ArchivedLog([300, 65_700], fork: 5_000)
        var resumed = restored.writer(next)
        #expect(try resumed.write(upTo: restored.notes[1]) == 65_700)
        #expect(restored.audit(next, log: restored.log).findings.isEmpty)
    }

    // The control of the audit: whatever is changed or missing is named.
    @Test func `is not found sound when any of its files is changed, missing or cut`() throws {
        let archived = try ArchivedLog([300, 700])
        let store = MemoryArchive()
        var writer = archived.writer(store)
        for note in archived.notes { _ = try writer.write(upTo: note) }
        #expect(archived.audit(store).findings.isEmpty)
        // Partial files of older sizes are for others: the full ones stand beside them.
        for (path, bytes) in store.files where Self.isNeeded(path, size: 700) {
            for damage in [bytes.indices.last.map { $0 / 2 }, bytes.indices.last] {
                guard let damage else { continue }
                var files = store.files
                files[path]?[damage] ^= 4
                #expect(!archived.audit(MemoryArchive(files)).findings.isEmpty, "\(path)")
            }
            var files = store.files
            files[path] = Array(bytes.dropLast())
            #expect(!archived.audit(MemoryArchive(files)).findings.isEmpty, "\(path) cut")
            files[path] = nil
            let isOlder = path.hasPrefix("checkpoints/")
            #expect(
                archived.audit(MemoryArchive(files)).findings.isEmpty == isOlder,
                "\(path) gone"
            )
        }
    }

    private static func isNeeded(_ path: String, size: UInt64) -> Bool {
        guard path.contains(".p/") else { return true }
        return TileCoordinate.partialTiles(size: size).contains { $0.path == path }
            || path == TileCoordinate.entriesPath(index: size / 256, width: Int(size % 256))
    }

    @Test func `takes no record whose hash is not the tree's`() throws {
        let archived = try ArchivedLog([700])
        let log = AlteredEntries(archived.log, at: 345)
        let store = MemoryArchive()
        var writer = ArchiveWriter(log: log, store: store, key: archived.signer.verifierKey)
        let fault = #expect(throws: LogStorageFault.self) {
            try writer.write(upTo: archived.notes[0])
        }
        #expect(fault?.message.contains("345") == true)
        #expect(store.files[ArchiveLayout.checkpoint] == nil)
    }

    @Test func `is not continued by another history, nor by a shorter one`() throws {
        let honest = try ArchivedLog([300, 700])
        let store = MemoryArchive()
        var writer = honest.writer(store)
        _ = try writer.write(upTo: honest.notes[0])
        let files = store.files
        let fork = try ArchivedLog([300, 700], fork: 17)
        var forging = fork.writer(store)
        #expect(throws: ArchiveFault(.forked, "the archive holds another history than the log")) {
            try forging.write(upTo: fork.notes[1])
        }
        var older = try ArchivedLog([100]).writer(store)
        #expect(throws: ArchiveFault(.forked, "the archive holds more than the log")) {
            try older.write(upTo: ArchivedLog([100]).notes[0])
        }
        #expect(store.files == files)
        #expect(!honest.audit(store, log: fork.log).findings.isEmpty)
        #expect(fork.audit(store).findings.isEmpty, "alone it passes")
    }
}

/// A log that hands out one entry changed.
private final class AlteredEntries: LogStorage {
    private let log: MemoryLog
    private let place: UInt64

    init(_ log: MemoryLog, at place: UInt64) {
        self.log = log
        self.place = place
    }

    func readBlocks(
        from first: UInt64,
        upTo end: UInt64,
        _ body: (UInt64, Span<UInt8>) throws -> Bool
    ) throws {
        try log.readBlocks(from: first, upTo: end) { start, block in
            let count = try Bundle.count(block)
            guard (start..<start + UInt64(count)).contains(place) else {
                return try body(start, block)
            }
            var altered = block.copy()
            let range = try Bundle.range(of: Int(place - start), count: count, in: block)
            altered[range.lowerBound] ^= 1
            return try body(start, altered.span)
        }
    }

    func end() -> LogEnd { log.end() }
    func tile(level: Int, index: UInt64) -> [UInt8]? { log.tile(level: level, index: index) }
    func append(_ batch: LogBatch) throws -> LogEnd { try log.append(batch) }
    func reopen() {}
    func readRecords(_ sequences: [UInt64], _ body: (UInt64, Span<UInt8>) throws -> Void) throws {
        try log.readRecords(sequences, body)
    }
    func attached(at sequence: UInt64) -> [UInt8]? { log.attached(at: sequence) }
    func sharedPart(_ digest: TreeDigest) -> [UInt8]? { log.sharedPart(digest) }
    func keepCheckpoint(size: UInt64, note: String) { log.keepCheckpoint(size: size, note: note) }
    func checkpoints() -> [(size: UInt64, note: String)] { log.checkpoints() }
}
