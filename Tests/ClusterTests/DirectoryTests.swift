import EntitlementLedger
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations
import PostgresStorage
import Testing

/// Several machines: a cluster begins with a ledger's directory, and a node's
/// directory is made of what the cluster holds.
extension `A cluster's journal in PostgreSQL` {
    // Storage, "Proofs": the journals have no place for what such a ledger must not sign
    @Test func `holds no ledger that was restored to less than it signed`() throws {
        try withFolder { folder in
            let source = try SealedLedger(at: folder + "/a")
            try source.append(3)
            let (manifest, root) = (source.opened.manifest, try source.opened.log.end().edge.root)
            let signer = try NoteSigner(
                name: manifest.origin,
                privateKey: source.opened.vault.checkpointKey
            )
            source.opened.close()
            func load(published size: UInt64) throws -> (events: UInt64, streams: UInt64) {
                let text = Checkpoint(origin: manifest.origin, size: size, root: root).text
                let note = Data(try signer.sign(text).description.utf8)
                try note.write(to: URL(filePath: folder + "/a/published"))
                let again = try SealedLedger(opening: folder + "/a")
                defer { again.opened.close() }
                let maker = try JournalMaker(
                    PostgresServers.place(),
                    schema: PostgresServers.newSchema()
                )
                return try again.opened.load(into: maker, allowsAsynchronous: false)
            }
            let fault = #expect(throws: LedgerOpenFault.self) { try load(published: 4) }
            #expect(fault?.code == .shortened)
            // The control: one that has it all again.
            #expect(try load(published: 3) == (3, 3))
        }
    }

    @Test func `holds a ledger's directory and gives it back, event for event, name for name`()
        async throws
    {
        try withFolder { folder in
            let source = try SealedLedger(at: folder + "/a")
            for count in [1, 255, 3, 300] { try source.append(count) }
            try source.erase(3)
            try source.opened.log.keepCheckpoint(size: 256, note: "a note\n")
            let schema = PostgresServers.newSchema()
            let maker = try JournalMaker(PostgresServers.place(), schema: schema)
            let loaded = try source.opened.load(into: maker, allowsAsynchronous: false)
            #expect(loaded == (559, 559))
            let journal = PostgresJournal(PostgresServers.place(), schema: schema)
            let key = SealedLedger.masterKey
            let filled = try LedgerDirectory.fill(
                at: folder + "/b",
                from: journal,
                masterKey: key
            )
            #expect(filled.end.size == 559)
            #expect(filled.streams.streams == 559 && filled.streams.erased == 1)
            let node = try SealedLedger(opening: folder + "/b")
            try same(node, source)
            // Who leads over the one is followed by the other, new names with their keys.
            let (end, leadership) = try journal.take()
            let leader = try LeaderLog(
                journal,
                over: source.opened.log,
                as: leadership,
                from: end,
                randomness: .system
            )
            let follower = LogFollower(
                journal,
                into: node.opened.log,
                vaultPosition: filled.end.vaultPosition
            )
            for count in [1, 2, 260] {
                try source.append(count, to: leader)
                follower.note(confirmed: leader.confirmed)
                _ = try follower.catchUp()
            }
            node.opened.close()
            let again = try SealedLedger(opening: folder + "/b")
            try source.opened.vault.drawIn()
            try same(again, source)
            again.opened.close()
            source.opened.close()
        }
    }

    @Test func `refuses what would lose or mix`() throws {
        try withFolder { folder in
            let source = try SealedLedger(at: folder + "/a")
            try source.append(5)
            let schema = PostgresServers.newSchema()
            // Stopped in the middle nothing stands.
            do {
                let stopped = try JournalMaker(PostgresServers.place(), schema: schema)
                try stopped.add(
                    SampleBatches([3]).batches.map { JournalBatch($0, after: TreeEdge()) }[0]
                )
            }
            let journal = PostgresJournal(PostgresServers.place(), schema: schema)
            #expect { try journal.row() } throws: { ($0 as? JournalFault)?.code == .missing }
            _ = try source.opened.load(
                into: try JournalMaker(PostgresServers.place(), schema: schema),
                allowsAsynchronous: false
            )
            #expect { try JournalMaker(PostgresServers.place(), schema: schema) } throws: {
                ($0 as? JournalFault)?.code == .notEmpty
            }
            let key = SealedLedger.masterKey
            #expect {
                try LedgerDirectory.fill(
                    at: folder + "/b",
                    from: journal,
                    masterKey: key.map { $0 ^ 1 }
                )
            } throws: { ($0 as? LedgerOpenFault)?.code == .wrongKey }
            #expect {
                try LedgerDirectory.fill(at: folder + "/a", from: journal, masterKey: key)
            } throws: { ($0 as? LedgerOpenFault)?.code == .notEmpty }
            // One byte of an item, of a batch.
            let name = schema.name
            for (table, place) in [("vault_item", 30), ("batch", 90)] {
                let change = """
                    UPDATE \(name).\(table) SET bytes = set_byte(bytes, \(place), get_byte(bytes, \(place)) # 1)
                    """
                try PostgresServers.sql(change)
                #expect {
                    try LedgerDirectory.fill(at: folder + "/c", from: journal, masterKey: key)
                } throws: {
                    ($0 as? JournalFault)?.code == .damaged
                        || ($0 as? LogStorageFault)?.code == .damaged
                }
                try PostgresServers.sql(change)
                try? FileManager.default.removeItem(atPath: folder + "/c")
            }
            // Control: as it was it fills.
            #expect(
                try LedgerDirectory.fill(at: folder + "/c", from: journal, masterKey: key).end.size
                    == 5
            )
            source.opened.close()
        }
    }

    // A standby that takes over may lack it: such a copy would know more than the cluster for ever.
    @Test func `fills a directory with what is confirmed, and no more`() throws {
        try withFolder { folder in
            let source = try SealedLedger(at: folder + "/a")
            try source.append(5)
            let schema = PostgresServers.newSchema()
            _ = try source.opened.load(
                into: try JournalMaker(PostgresServers.place(), schema: schema),
                allowsAsynchronous: false
            )
            let journal = PostgresJournal(PostgresServers.place(), schema: schema)
            let (end, leadership) = try journal.take()
            let leader = try LeaderLog(
                journal,
                over: source.opened.log,
                as: leadership,
                from: end,
                randomness: .system
            )
            try source.append(2, to: leader)
            let filled = try LedgerDirectory.fill(
                at: folder + "/b",
                from: journal,
                masterKey: SealedLedger.masterKey
            )
            #expect(filled.end.size == 5 && filled.end.vaultPosition == 5)
            #expect(filled.streams.streams == 5)
            let node = try SealedLedger(opening: folder + "/b")
            let follower = LogFollower(
                journal,
                into: node.opened.log,
                vaultPosition: filled.end.vaultPosition
            )
            // The control: what follows once it is confirmed is whole.
            try leader.renew()
            _ = try follower.catchUp()
            node.opened.close()
            let again = try SealedLedger(opening: folder + "/b")
            try source.opened.vault.drawIn()
            try same(again, source)
            again.opened.close()
            source.opened.close()
        }
    }

    /// Refuses when the directory is marked already.
    private struct RefusingMaker: ClusterMaker {
        func add(items: [NewStream]) {}
        func add(_ batch: JournalBatch) {}
        func add(checkpoint size: UInt64, note: String) {}

        func finish(
            manifest: String,
            end: LogEnd,
            keys: [UInt8],
            generation: UInt64,
            allowsAsynchronous: Bool
        ) throws {
            throw JournalFault(.notSynchronous, "a test")
        }
    }

    // What an operator prepared is nothing that a refused call made.
    @Test func `leaves a directory as it was of which it is not made`() throws {
        try withFolder { folder in
            let path = folder + "/a"
            try Ledger.create(at: path)
            let prepared = ClusterFile(
                postgres: "service=prepared",
                schema: nil,
                node: "a",
                address: "https://a"
            )
            try prepared.write(toLedgerAt: path)
            let taken = PostgresServers.newSchema()
            try JournalMaker(PostgresServers.place(), schema: taken).finishEmpty()
            var file = prepared
            file.postgres = "service=other"
            try OpenLedger(at: path).lend(warn: { _ in }) { [file] open in
                func make(in maker: () throws -> any ClusterMaker) throws {
                    _ = try open.makeCluster(as: file, allowsAsynchronous: false, in: maker)
                }
                #expect {
                    try make { try JournalMaker(PostgresServers.place(), schema: taken) }
                } throws: { ($0 as? JournalFault)?.code == .notEmpty }
                #expect(try ClusterFile.read(ofLedgerAt: path) == prepared)
                #expect { try make { RefusingMaker() } } throws: {
                    ($0 as? JournalFault)?.code == .notSynchronous
                }
                #expect(try ClusterFile.read(ofLedgerAt: path) == prepared)
                #expect(!LedgerDirectory.isNode(at: path))
                // Control: of one that is made it is a machine.
                let schema = PostgresServers.newSchema()
                try make { try JournalMaker(PostgresServers.place(), schema: schema) }
                #expect(try ClusterFile.read(ofLedgerAt: path) == file)
                #expect(LedgerDirectory.isNode(at: path))
            }
        }
    }

    private func same(_ one: SealedLedger, _ other: SealedLedger) throws {
        let (left, right) = (one.opened, other.opened)
        #expect(try left.log.end() == right.log.end())
        #expect(left.manifest == right.manifest)
        for sequence in 0..<(try right.log.end().size) {
            #expect(try left.log.record(sequence) == right.log.record(sequence))
            #expect(try left.log.attached(at: sequence) == right.log.attached(at: sequence))
        }
        #expect(try left.log.checkpoints().map(\.note) == right.log.checkpoints().map(\.note))
        for (number, name) in other.names {
            #expect(try left.vault.name(of: number) == right.vault.name(of: number))
            #expect(try left.vault.stream(of: name) == right.vault.stream(of: name))
            #expect(try left.vault.isErased(number) == right.vault.isErased(number))
            #expect(
                try (left.vault.keys(of: number) == nil) == (right.vault.keys(of: number) == nil)
            )
        }
    }

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "cluster-tests-" + UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }
}

/// A ledger's directory whose records are sealed as the ledger's own are, each about somebody new.
final class SealedLedger {
    let opened: OpenLedgerDirectory
    private(set) var names: [(UInt64, StreamName)] = []

    static let masterKey = (0..<32).map { UInt8($0) }

    init(at path: String) throws {
        try LedgerDirectory.create(
            at: path,
            masterKey: Self.masterKey,
            origin: "cluster.test/log",
            created: "2026-01-01T00:00:00.000Z",
            randomness: .system
        )
        opened = try Self.open(path)
    }

    init(opening path: String) throws { opened = try Self.open(path) }

    private static func open(_ path: String) throws -> OpenLedgerDirectory {
        try OpenLedgerDirectory(
            at: path,
            masterKey: masterKey,
            forWriting: true,
            clock: { 0 },
            randomness: .system
        )
    }

    /// Appends in one commit; `log`: who leads; nil: alone.
    func append(_ count: Int, to log: (any LogStorage)? = nil) throws {
        let log = log ?? opened.log
        let first = Int(try log.end().size)
        let submissions = try (first..<first + count).map(submission)
        let batch = try GroupDecision(
            submissions,
            end: try log.end(),
            index: EmptyIndex(),
            clock: 1_767_225_600_000 + Int64(first)
        ).batch
        _ = try opened.vault.commit(upTo: batch.highestCounter) { new in
            var batch = batch
            batch.newStreams = new
            return try log.append(batch)
        }
    }

    /// Erases who the record of a place is about.
    func erase(_ place: Int) throws {
        try opened.vault.prepare(
            VaultErasure(streams: [names[place].0], signal: SignalDigest(high: 1, low: 1))
        )
        opened.vault.close([names[place].0])
        try opened.vault.finishErasure()
    }

    private func submission(_ sequence: Int) throws -> SealedSubmission {
        let name = StreamName(environment: 1, subject: "customer/number \(sequence)")
        let stream = try opened.vault.reserveStream(of: name)
        names.append((stream, name))
        let attached: [UInt8]? =
            sequence % 7 == 3 ? Array("attachment of \(sequence)".utf8) : nil
        var randomness = RandomSource { UInt64(sequence) }
        let record = try SealedRecord(
            header: SealedRecord.Header(
                time: 1_767_225_600_000,
                observedAt: 1_767_225_600_000,
                stream: stream,
                kind: 1,
                source: 1,
                environment: 1
            ),
            signal: SignalDigest(high: 0, low: UInt64(sequence)),
            facts: [UInt8](repeating: 7, count: sequence % 90),
            identity: [],
            key: nil,
            nonce: SealingNonce(using: &randomness),
            attached: attached == nil ? .none : .attachment,
            attachedDigest: attached.map { TreeHash.attached($0.span) },
            otherStreams: []
        )
        return SealedSubmission(records: [try #require(record)], attached: attached)
    }

    private struct EmptyIndex: LogIndex {
        func sequence(of signal: SignalDigest) -> UInt64? { nil }
        func lastSequence(of stream: UInt64) -> UInt64? { nil }
    }
}

extension LogReader {
    fileprivate func record(_ sequence: UInt64) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try readRecords([sequence]) { bytes = $1.copy() }
        return bytes
    }
}
