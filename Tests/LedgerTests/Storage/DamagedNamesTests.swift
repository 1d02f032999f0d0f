import Encodings
import EventLog
import Foundation
import LMDB
import Testing

@testable import LMDBStorage

/// A vault of so many names that all its tables stand on several pages, and its files as bytes.
private struct NamedVault {
    let folder: String
    private(set) var streams: [UInt64] = []
    private(set) var keys: [Key] = []

    static let count = 20_000
    private static let masterKey = (0..<32).map { UInt8($0) }

    static func name(_ number: Int) -> StreamName {
        StreamName(environment: 1, subject: "customer/\(number)")
    }

    init(_ folder: String) throws {
        self.folder = folder
        try LedgerDirectory.create(
            at: sound,
            masterKey: Self.masterKey,
            origin: "ledger.test/log",
            created: "2026-06-01T00:00:00.000Z",
            randomness: .system
        )
        let directory = try Self.open(sound, forWriting: true)
        defer { directory.close() }
        let vault = directory.vault
        streams = try (0..<Self.count).map { try vault.reserveStream(of: Self.name($0)) }
        try vault.commitAll()
        vault.names.finish()
        keys = streams.enumerated().map { number, stream in
            let shard = StreamNumber.shard(of: stream)
            let digest = vault.epochs.digest(of: Self.name(number), shard: shard)
            return VaultNames.Name(digest, shard: shard).key
        }
    }

    private var sound: String { folder + "/sound" }
    private static let file = "/vault/data.mdb"

    static func open(_ path: String, forWriting: Bool = false) throws -> OpenLedgerDirectory {
        try OpenLedgerDirectory(
            at: path,
            masterKey: masterKey,
            forWriting: forWriting,
            clock: { 1_780_272_000_000 },
            randomness: .system
        )
    }

    func bytes() throws -> Data { try Data(contentsOf: URL(filePath: sound + Self.file)) }

    /// Lends a copy of the ledger whose vault has other bytes.
    func damaged<Result>(_ bytes: Data, _ body: (String) throws -> Result) throws -> Result {
        let copy = folder + "/" + UUID().uuidString
        try FileManager.default.copyItem(atPath: sound, toPath: copy)
        defer { try? FileManager.default.removeItem(atPath: copy) }
        try bytes.write(to: URL(filePath: copy + Self.file))
        return try body(copy)
    }

    /// Asks for everybody.
    func ask(_ path: String) throws -> (wrong: Int, faults: Int) {
        var (wrong, faults) = (0, 0)
        do {
            let directory = try Self.open(path)
            defer { directory.close() }
            for number in 0..<Self.count {
                do {
                    let stream = try directory.vault.stream(of: Self.name(number))
                    if stream != streams[number] { wrong += 1 }
                } catch is LogStorageFault {
                    faults += 1
                }
            }
        } catch is LogStorageFault {
            faults += 1
        }
        return (wrong, faults)
    }

    /// Where bytes stand in the vault's file.
    static func places(of bytes: [UInt8], in content: Data) -> [Int] {
        var places: [Int] = []
        var start = content.startIndex
        while let found = content[start...].firstRange(of: bytes) {
            places.append(found.lowerBound)
            start = found.lowerBound + 1
        }
        return places
    }

    /// The branch pages of the table of names: their keys have 16 bytes (LMDB 0.9, `MDB_page`).
    static func branchKeys(in content: Data) -> [Int] {
        stride(from: 2 * pageSize, to: content.count - pageSize + 1, by: pageSize).flatMap { page in
            guard content[page + 10] == 1, content[page + 11] == 0 else { return [Int]() }
            let end = word(content, page + 12)
            return stride(from: 18, to: end, by: 2).compactMap { slot in
                let node = page + word(content, page + slot)
                return word(content, node + 6) == 16 ? node + 8 : nil
            }
        }
    }

    private static let pageSize = 4096

    private static func word(_ content: Data, _ place: Int) -> Int {
        Int(content[place]) | Int(content[place + 1]) << 8
    }
}

extension Data {
    fileprivate mutating func flip(_ place: Int, bit: Int) { self[place] ^= 1 << UInt8(bit) }
}

/// Flipped bits where names are found (Storage, "Vault and erasure"): everybody is asked for, and
/// nobody is somebody else.
struct `Damaged names` {
    private enum Damage: CaseIterable {
        case value, key, branch, cover
    }

    @Test func `answer for nobody else, and for nobody known as for somebody new`() async throws {
        try await withScratchDirectory { folder in
            let vault = try NamedVault(folder)
            let content = try vault.bytes()
            for damage in Damage.allCases {
                let bytes = try Self.flipped(content, damage, of: vault)
                #expect(bytes != content)
                try vault.damaged(bytes) { path in
                    let told = try vault.ask(path)
                    #expect(told.wrong == 0 && told.faults > 0, "\(damage): \(told)")
                    let isFound = try Self.isFound(by: path)
                    #expect(isFound, "\(damage)")
                    if damage == .key { try Self.refusesErasure(path, vault) }
                }
            }
            // The control: an entry that names itself somebody else, which only who holds the keys
            // can make. Whose entry it was is missed; all others are found.
            let told = try vault.damaged(content) { path in
                try Self.forge(path, vault)
                return try vault.ask(path)
            }
            #expect(told == (wrong: 1, faults: 1))
        }
    }

    /// Whether the check that an audit makes tells.
    private static func isFound(by path: String) throws -> Bool {
        do {
            let directory = try NamedVault.open(path)
            defer { directory.close() }
            _ = try directory.vault.check()
            return false
        } catch is LogStorageFault {
            return true
        }
    }

    private static func flipped(
        _ content: Data,
        _ damage: Damage,
        of vault: NamedVault
    ) throws -> Data {
        var content = content
        let chosen = 77
        switch damage {
        case .value:
            // Several names, another bit of each: of counter and of shard.
            for bit in stride(from: 0, to: 24, by: 3) {
                for place in try names(chosen + bit, of: vault, in: content) {
                    content.flip(place + 16 + bit / 8, bit: bit % 8)
                }
            }
            // The magic of an entry becomes that of a tombstone.
            let head = [UInt8]("ELV1".utf8)
            for place in NamedVault.places(of: head, in: content)
            where content[place + 8..<place + 16].elementsEqual(vault.streams[chosen].bytes) {
                content.flip(place + 2, bit: 1)
            }
        case .key:
            for place in try names(chosen, of: vault, in: content) {
                content.flip(place + 15, bit: 3)
            }
        case .branch:
            for place in NamedVault.branchKeys(in: content) { content.flip(place, bit: 6) }
        case .cover:
            let last = try #require(vault.streams.last).bytes
            for place in NamedVault.places(of: last + [UInt8](repeating: 0, count: 8), in: content)
            where content[(place - 8)..<place].allSatisfy({ $0 == 0 }) {
                content.flip(place + 3, bit: 5)
            }
        }
        return content
    }

    /// Where a name stands with its stream.
    private static func names(
        _ number: Int,
        of vault: NamedVault,
        in content: Data
    ) throws -> [Int] {
        let places = NamedVault.places(
            of: vault.keys[number].bytes + vault.streams[number].bytes,
            in: content
        )
        try #require(!places.isEmpty)
        return places
    }

    /// Somebody's name leads to the stream of another, whose entry says the same.
    private static func forge(_ path: String, _ vault: NamedVault) throws {
        let directory = try NamedVault.open(path, forWriting: true)
        defer { directory.close() }
        let (own, other) = (vault.streams[1], vault.streams[2])
        let forged = directory.vault
        let digest = forged.epochs.digest(
            of: NamedVault.name(1),
            shard: StreamNumber.shard(of: own)
        )
        var randomness = RandomSource.system
        let entry = try VaultEntry(
            stream: other,
            digest: digest,
            name: NamedVault.name(1),
            key: [UInt8](repeating: 7, count: StreamKeys.byteCount)
        ).sealed(
            under: forged.epochs.shards[StreamNumber.shard(of: other)],
            using: &randomness
        )
        try forged.environment.write { transaction in
            try transaction.put(forged.streams, Key(other), entry.span)
            try forged.names.put(
                other,
                of: VaultNames.Name(digest, shard: StreamNumber.shard(of: own)),
                transaction
            )
        }
    }

    /// An erasure destroys the old keys of a shard: whom a damaged table lacks would go with it.
    private static func refusesErasure(_ path: String, _ vault: NamedVault) throws {
        let directory = try NamedVault.open(path, forWriting: true)
        defer { directory.close() }
        #expect(throws: LogStorageFault.self) {
            try directory.vault.prepare(
                VaultErasure(
                    streams: [vault.streams[5]],
                    signal: SignalDigest(high: 1, low: 1)
                )
            )
        }
        let prepared = directory.vault.preparedErasure
        #expect(prepared == nil)
    }
}

extension Key {
    fileprivate var bytes: [UInt8] { (0..<count).map { self[$0] } }
}

extension UInt64 {
    fileprivate var bytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
    }
}
