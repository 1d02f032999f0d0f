import Crypto
import Encodings
import EventLog
import Foundation
import LMDB
import LedgerAPI
import Synchronization
import Testing

@testable import LMDBStorage

/// The index of names, which follows the streams (Storage, "Vault and erasure").
struct `Names of a vault` {
    /// An environment with the table of streams, as one process has it open.
    private struct Place {
        let environment: LMDB.Environment
        let streams: Table

        init(_ folder: String) throws {
            environment = try LMDB.Environment(path: folder, options: .init())
            streams = try #require(try environment.table("streams", create: true))
        }

        /// `newStreams`: asked whenever everything is checked.
        func names(
            isReadOnly: Bool = false,
            newStreams: @escaping @Sendable () throws -> [UInt64] = { [] }
        ) throws -> VaultNames {
            try VaultNames(
                environment: environment,
                streams: streams,
                newStreams: newStreams,
                isReadOnly: isReadOnly
            )
        }

        /// Makes streams durable, as the vault does, and returns their entries.
        func append(_ numbers: Range<UInt64>) throws -> [VaultEntry] {
            let entries = numbers.map { Self.entry($0) }
            var randomness = RandomSource.system
            let key = SymmetricKey(size: .bits256)
            let values = try entries.map { try $0.sealed(under: key, using: &randomness) }
            try environment.write { transaction in
                for (entry, value) in zip(entries, values) {
                    try transaction.append(streams, Key(entry.stream), value.span)
                }
            }
            return entries
        }

        /// Leaves a tombstone.
        func erase(_ number: UInt64) throws {
            let stream = number << StreamNumber.shardBits
            try environment.write {
                try $0.put(streams, Key(stream), VaultItem.tombstone(stream: stream).bytes.span)
            }
        }

        /// Takes an entry away, as a damaged page does.
        func remove(_ key: Key, from name: String) throws {
            let table = try #require(try environment.table(name, create: false))
            try environment.write { _ = try $0.delete(table, key) }
        }

        static func entry(_ number: UInt64) -> VaultEntry {
            VaultEntry(
                stream: number << StreamNumber.shardBits,
                digest: digest(number),
                name: StreamName(environment: 0, subject: "customer/\(number)"),
                key: [UInt8](repeating: 0, count: StreamKeys.byteCount)
            )
        }

        static func digest(_ number: UInt64) -> SignalDigest {
            SignalDigest(high: number &* 0x9E37_79B9_7F4A_7C15, low: number)
        }

        /// How many names stand in the table, the mark of what it covers among them.
        func tableCount() throws -> Int {
            let table = try #require(try environment.table("names", create: false))
            var count = 0
            try environment.read { transaction in
                try transaction.scan(table, from: nil) { _, _ in
                    count += 1
                    return true
                }
            }
            return count
        }
    }

    private func expect(_ names: VaultNames, finds numbers: Range<UInt64>) throws {
        for number in numbers {
            let found = try names.find(Place.digest(number))
            #expect(found == number << StreamNumber.shardBits, "\(number)")
        }
        #expect(try names.find(Place.digest(numbers.upperBound)) == nil)
    }

    @Test func `few wait in memory, many go into the table, all are found`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let names = try place.names()
            names.add(try place.append(1..<101))
            names.finish()
            #expect(try place.tableCount() == 0)
            try expect(names, finds: 1..<101)
            names.add(try place.append(101..<20_001))
            names.finish()
            #expect(try place.tableCount() == 20_000 + 1)
            try expect(names, finds: 1..<20_001)
            #expect(names.last == 20_000 << StreamNumber.shardBits)
        }
    }

    // As after a kill at any moment: what stands in the table differs, what is found does not.
    @Test func `are found again from the streams, wherever the table ends`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            for end in [101, 9_001, 9_002, 12_001] as [UInt64] {
                let before = try place.names()
                let first = before.last >> StreamNumber.shardBits + 1
                // Nobody tells the index of these: the process has ended.
                _ = try place.append(first..<end)
                before.finish()
                let after = try place.names()
                after.finish()
                try expect(after, finds: 1..<end)
            }
        }
    }

    @Test func `a reader finds what a writer added since`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let writer = try place.names()
            writer.add(try place.append(1..<11))
            let reader = try place.names(isReadOnly: true)
            try expect(reader, finds: 1..<11)
            writer.add(try place.append(11..<21))
            try expect(reader, finds: 1..<21)
            writer.add(try place.append(21..<10_001))
            writer.finish()
            try expect(reader, finds: 1..<10_001)
        }
    }

    @Test func `an erased stream has no name`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            _ = try place.append(1..<4)
            try place.erase(2)
            let names = try place.names()
            #expect(try names.find(Place.digest(1)) == 1 << StreamNumber.shardBits)
            #expect(try names.find(Place.digest(2)) == nil)
            #expect(try names.find(Place.digest(3)) == 3 << StreamNumber.shardBits)
            #expect(names.last == 3 << StreamNumber.shardBits)
        }
    }

    // A large vault is checked for a while, in which others go on: one name would get two streams.
    @Test func `one that comes during the first check is found`() async throws {
        try await withScratchDirectory { folder in
            let place = try Place(folder)
            let made = Mutex<VaultNames?>(nil)
            let names = try place.names {
                made.withLock { $0.take() }?.add([Place.entry(1)])
                return []
            }
            made.withLock { $0 = names }
            _ = try place.append(1..<2)
            #expect(try names.find(Place.digest(1)) == 1 << StreamNumber.shardBits)
        }
    }

    @Test func `are checked by one thread for all who ask at once`() async throws {
        try await withScratchDirectory { folder in
            let checks = Mutex(0)
            let names = try Place(folder).names {
                checks.withLock { $0 += 1 }
                usleep(100_000)
                return []
            }
            _ = try Concurrently.run(4) { _ in try names.checkOnce() }
            #expect(checks.withLock(\.self) == 1)
        }
    }

    // A name that is not found would be a customer who has bought nothing.
    @Test func `a name or a stream that is missing is damage`() async throws {
        for name in ["names", "streams"] {
            try await withScratchDirectory { folder in
                let place = try Place(folder)
                let writer = try place.names()
                writer.add(try place.append(1..<10_001))
                writer.finish()
                let digest = Place.digest(77)
                let key =
                    name == "names"
                    ? VaultNames.Name(digest, shard: 0).key : Key(77 << StreamNumber.shardBits)
                #expect(try place.names().find(Place.digest(0)) == nil, "the control")
                try place.remove(key, from: name)
                #expect(throws: LogStorageFault.self) {
                    try place.names().find(Place.digest(name == "names" ? 77 : 0))
                }
            }
        }
    }
}

extension VaultNames {
    /// The stream of a digest of the first generation; these tests' streams are all of one shard.
    fileprivate func find(_ digest: SignalDigest) throws -> UInt64? {
        switch try stream(of: digest, shard: 0, generation: 0) {
        case .stream(let stream): stream
        case .none, .otherGeneration: nil
        }
    }
}
