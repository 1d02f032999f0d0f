import Crypto
import DurableFiles
import EventLog
import Foundation
import LMDB
import Testing

@testable import LMDBStorage

/// The vault's table of ids (row 8.6, Z6).
struct `Ids of a vault` {
    private static let masterKey = [UInt8](repeating: 7, count: 32)

    /// A ledger's directory, opened at will.
    private struct Place {
        let path: String
        var vaultPath: String { path + "/" + LedgerDirectory.vaultName }

        init(_ folder: String) throws {
            path = folder + "/ledger"
            try LedgerDirectory.createSample(at: path, masterKey: masterKey)
        }

        func open<Result>(
            _ key: [UInt8] = masterKey,
            isReadOnly: Bool = false,
            _ body: (LMDBVault) throws -> Result
        ) throws -> Result {
            let log = try LMDBLog(path: path + "/log", isReadOnly: isReadOnly)
            defer { log.close() }
            let vault = try LMDBVault(
                path: vaultPath,
                keyFile: EpochKeyFile(vaultPath: vaultPath, masterKey: key),
                log: log,
                isReadOnly: isReadOnly,
                clock: { 1_780_000_000_000 },
                randomness: .system
            )
            defer { vault.close() }
            return try body(vault)
        }

        /// Changes the table as nobody should.
        func damage(_ body: (borrowing WriteTransaction, Table) throws -> Void) throws {
            let environment = try LMDB.Environment(path: vaultPath, options: .init())
            defer { environment.close() }
            let table = try #require(try environment.table("identifiers", create: false))
            try environment.write { try body($0, table) }
        }

        /// Whether some file of the ledger holds these bytes.
        func holds(_ bytes: [UInt8]) throws -> Bool {
            for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
                // Of a folder there is none.
                let content = FileManager.default.contents(atPath: path + "/" + name)
                if content?.range(of: Data(bytes)) != nil { return true }
            }
            return false
        }
    }

    private static func name(_ number: Int) -> StreamName {
        StreamName(environment: 0, subject: "purchase/play_store/\(number)")
    }

    private static func order(_ number: Int) -> String { "GPA.3300-1111-2222-\(10_000 + number)" }

    /// Streams, each with an id of its own and one that all share.
    private static func fill(_ vault: LMDBVault, _ count: Int) throws -> [UInt64] {
        let streams = try (0..<count).map { try vault.reserveStream(of: name($0)) }
        try vault.commitAll()
        let own = streams.enumerated().map { HeldIdentifier(stream: $1, text: order($0)) }
        let shared = streams.prefix(3).map { HeldIdentifier(stream: $0, text: "shared") }
        #expect(try vault.add(own + shared, from: 0, upTo: 50))
        return streams
    }

    private static func erase(_ streams: [UInt64], in vault: LMDBVault) throws {
        try vault.prepare(
            VaultErasure(streams: streams, signal: SignalDigest(high: 1, low: 2))
        )
        try vault.finishErasure()
    }

    @Test func `are found whole, by no beginning and no other writing, also by who only reads`()
        async throws
    {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let streams = try place.open { try Self.fill($0, 20) }
            for isReadOnly in [true, false] {
                try place.open(isReadOnly: isReadOnly) { vault in
                    for (number, stream) in streams.enumerated() {
                        #expect(try vault.streams(holding: Self.order(number)) == [stream])
                    }
                    #expect(try vault.streams(holding: "shared") == streams.prefix(3).sorted())
                    let whole = Self.order(3)
                    for text in [
                        String(whole.dropLast()), String(whole.prefix(3)), whole.lowercased(),
                        whole + " ", "",
                    ] { #expect(try vault.streams(holding: text) == [], "\(text)") }
                    #expect(try vault.identifiersEnd() == 50)
                    try vault.checkIdentifiers()
                }
            }
        }
    }

    @Test func `go on where they ended, once`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            try place.open { vault in
                let streams = try Self.fill(vault, 2)
                let more = [HeldIdentifier(stream: streams[0], text: "later")]
                #expect(try !vault.add(more, from: 0, upTo: 60), "it ends elsewhere")
                #expect(try vault.streams(holding: "later") == [])
                #expect(try vault.add(more, from: 50, upTo: 60))
                #expect(try vault.add(more, from: 60, upTo: 70), "the same again is no second")
                #expect(try vault.streams(holding: "later") == [streams[0]])
                try vault.checkIdentifiers()
                try vault.removeIdentifiers()
                #expect(try vault.identifiersEnd() == 0)
                #expect(try vault.streams(holding: "later") == [])
            }
        }
    }

    // Z6
    @Test func `go with their stream, and come back for those that share its shard`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let (streams, gone) = try place.open { vault in
                let streams = try Self.fill(vault, 400)
                // Two of one shard: among so many there are some.
                let others = streams.dropFirst(3)
                let shards = Dictionary(grouping: others, by: StreamNumber.shard(of:))
                let pair = try #require(shards.values.first { $0.count > 1 })
                let gone = [streams[0], pair[0]]
                #expect(try vault.outdatedShards() == [])
                try Self.erase(gone, in: vault)
                // Read before it was erased, and added behind the erasure.
                let late = [HeldIdentifier(stream: streams[0], text: "late")]
                #expect(try vault.add(late, from: 50, upTo: 50))
                #expect(try vault.streams(holding: "late") == [])
                return (streams, Set(gone))
            }
            let outdated = Set(gone.map(StreamNumber.shard(of:)))
            // Each look makes a digest for each shard: some of those that nothing happens to do.
            let looked = streams.enumerated().filter { number, stream in
                outdated.contains(StreamNumber.shard(of: stream)) || number.isMultiple(of: 50)
            }
            try place.open { vault in
                #expect(try vault.outdatedShards() == outdated.sorted())
                for (number, stream) in looked {
                    let isHeld = !outdated.contains(StreamNumber.shard(of: stream))
                    let found = try vault.streams(holding: Self.order(number))
                    #expect(found == (isHeld ? [stream] : []))
                }
                try vault.checkIdentifiers()
                try Self.completeAll(vault, streams, outdated)
            }
            for key in [Self.masterKey, Self.masterKey.reversed().map { $0 ^ 1 }] {
                if key != Self.masterKey {
                    // Another master key changes nothing of them.
                    _ = try LedgerDirectory.rotateMasterKey(
                        at: place.path,
                        from: Self.masterKey,
                        to: key,
                        randomness: .system
                    )
                }
                try place.open(key) { vault in
                    for (number, stream) in looked {
                        let found = try vault.streams(holding: Self.order(number))
                        #expect(found == (gone.contains(stream) ? [] : [stream]))
                    }
                    #expect(try vault.streams(holding: "shared").contains(streams[1]))
                    #expect(try !vault.streams(holding: "shared").contains(streams[0]))
                    #expect(try vault.identifiersEnd() == 50, "nothing is read again")
                    #expect(try vault.outdatedShards() == [])
                    try vault.checkIdentifiers()
                }
            }
            for number in 0..<3 {
                let id = Array(Self.order(number).utf8)
                #expect(try !place.holds(id))
                #expect(try !place.holds(Array(SHA256.hash(data: Data(id)).prefix(8))))
            }
            #expect(try place.holds(Array("identifiers".utf8)), "the control: files are searched")
        }
    }

    /// Adds the ids of outdated shards, as one does who read them again, twice.
    private static func completeAll(
        _ vault: LMDBVault,
        _ streams: [UInt64],
        _ outdated: Set<Int>
    ) throws {
        for shard in outdated {
            let all = streams.filter { StreamNumber.shard(of: $0) == shard }
            let standing = try all.filter { try vault.name(of: $0) != nil }
            #expect(try vault.streams(ofShard: shard).sorted() == standing.sorted())
            let held = streams.enumerated().map { HeldIdentifier(stream: $1, text: order($0)) }
            let shared = streams.prefix(3).map { HeldIdentifier(stream: $0, text: "shared") }
            let read = (held + shared).filter { standing.contains($0.stream) }
            for _ in 0..<2 { try vault.add(read, ofOutdated: shard) }
        }
    }

    // Each batch falls on every page; what it frees is used again by the next part of it.
    @Test func `take little more than themselves, however many batches they come in`() async throws
    {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            try place.open { vault in
                let streams = try (0..<2500).map { try vault.reserveStream(of: Self.name($0)) }
                try vault.commitAll()
                var added = 0
                for batch in UInt64(0)..<10 {
                    var held: Set<HeldIdentifier> = []
                    for stream in streams {
                        held.insert(HeldIdentifier(stream: stream, text: Self.order(added)))
                        added += 1
                    }
                    #expect(try vault.add(held, from: batch, upTo: batch + 1))
                }
                try vault.checkIdentifiers()
                let cover = try #require(try vault.identifiers.cover())
                #expect(cover.count == UInt64(added) && cover.end == 10)
                for number in stride(from: 0, to: added, by: 1999) {
                    let found = try vault.streams(holding: Self.order(number))
                    #expect(found == [streams[number % streams.count]])
                }
                let table = try #require(try vault.identifiersByteCount())
                #expect(table < 40 * added)
                let others = try vault.environment.read { transaction in
                    try transaction.byteCount(vault.streams)
                        + transaction.byteCount(vault.names.names)
                }
                let file = vault.environment.usedByteCount
                #expect(file < table * 3 / 2 + others + 1 << 18, "\(file) for \(table)")
            }
        }
    }

    @Test func `that were damaged are told, and those of a program that knew none are none`()
        async throws
    {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            _ = try place.open { try Self.fill($0, 5) }
            try place.damage { transaction, table in
                let first = try #require(
                    try transaction.get(table, Key(0)) { value in value.copy(0..<value.count) }
                )
                // As a program before the check wrote it.
                var other = Array(first.dropLast(5))
                other[8] ^= 1
                try transaction.put(table, Key(0), other.span)
            }
            try place.open { vault in
                #expect(try vault.identifiersEnd() == 0, "another generation's is empty")
                #expect(try vault.streams(holding: Self.order(1)) == [])
                let id = HeldIdentifier(stream: 1 << 12, text: "anew")
                #expect(try vault.add([id], from: 0, upTo: 1))
                try vault.checkIdentifiers()
            }
            try place.damage { transaction, table in
                var keys: [Key] = []
                try transaction.scan(table) { key in keys.append(Key(key)) }
                for key in keys where (0..<key.count).contains(where: { key[$0] != 0 }) {
                    _ = try transaction.delete(table, key)
                }
            }
            let found = try place.open { vault in
                #expect(throws: LogStorageFault.self) { try vault.checkIdentifiers() }
            }
            #expect(found?.code == .damaged)
        }
    }

    // How far they go, and which shards are to be read again, stands nowhere else.
    @Test func `of which another byte says what they cover are told, and none`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let streams = try place.open { vault in
                let streams = try Self.fill(vault, 20)
                try Self.erase([streams[5]], in: vault)
                #expect(try vault.outdatedShards().count == 1)
                return streams
            }
            try place.open { vault in
                let table = try #require(
                    try vault.environment.table("identifiers", create: false)
                )
                func put(_ cover: [UInt8]) throws {
                    try vault.environment.write { try $0.put(table, Key(0), cover.span) }
                }
                let standing = try vault.environment.read { transaction in
                    try transaction.get(table, Key(0)) { $0.copy() }
                }
                let whole = try #require(standing)
                for byte in whole.indices {
                    var other = whole
                    other[byte] ^= 2
                    try put(other)
                    let fault = #expect(throws: LogStorageFault.self, "byte \(byte)") {
                        try vault.checkIdentifiers()
                    }
                    #expect(fault?.code == .damaged)
                    #expect(try vault.identifiersEnd() == 0, "byte \(byte)")
                    #expect(try vault.outdatedShards() == [])
                }
                // The controls: as it was, and as a program before the check wrote it.
                let kept = try #require(
                    streams.indices.first {
                        StreamNumber.shard(of: streams[$0]) != StreamNumber.shard(of: streams[5])
                    }
                )
                for cover in [whole, Array(whole.dropLast(5))] {
                    try put(cover)
                    try vault.checkIdentifiers()
                    #expect(try vault.identifiersEnd() == 50)
                    #expect(try vault.outdatedShards().count == 1)
                    #expect(try vault.streams(holding: Self.order(kept)) == [streams[kept]])
                }
                try put(whole.map { $0 ^ 2 })
                try Self.erase([streams[0]], in: vault)
                let left = try vault.environment.read { try $0.count(table) }
                #expect(left == 0, "whose key goes leaves nothing, whatever is damaged")
            }
        }
    }

    @Test func `of a torn row, or of an older table, are told or none`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let streams = try place.open { try Self.fill($0, 5) }
            try place.damage { transaction, table in
                var keys: [Key] = []
                try transaction.scan(table) { key in keys.append(Key(key)) }
                for key in keys.dropFirst() { try transaction.put(table, key, [1, 2, 3].span) }
            }
            try place.open { vault in
                let search = #expect(throws: LogStorageFault.self) {
                    try vault.streams(holding: Self.order(1))
                }
                #expect(search?.code == .damaged)
                let check = #expect(throws: LogStorageFault.self) { try vault.checkIdentifiers() }
                #expect(check?.code == .damaged)
                #expect(try vault.identifiersEnd() == 50, "the control")
                try Self.erase([streams[0]], in: vault)
                #expect(try vault.identifiersEnd() == 0, "to be filled from the log")
            }
            try place.damage { transaction, table in
                let cover = [UInt8](repeating: 1, count: 32)
                try transaction.put(table, Key(0), cover.span)
                try transaction.put(table, Key(1, 2), cover.span)
            }
            try place.open { vault in
                #expect(try vault.identifiersEnd() == 0)
                #expect(try vault.streams(holding: Self.order(1)) == [])
                let id = HeldIdentifier(stream: streams[1], text: Self.order(1))
                #expect(try vault.add([id], from: 0, upTo: 1))
                #expect(try vault.streams(holding: Self.order(1)) == [streams[1]])
                try vault.checkIdentifiers()
            }
            try place.damage { transaction, table in
                let isThere = try transaction.contains(table, Key(1, 2))
                #expect(!isThere, "the older rows are gone")
            }
        }
    }
}

extension WriteTransaction {
    /// Lends every key of a table.
    @available(*, noasync)
    fileprivate func scan(_ table: Table, _ body: (Span<UInt8>) -> Void) throws {
        try scan(table, from: nil) { key, _ in
            body(key)
            return true
        }
    }
}
