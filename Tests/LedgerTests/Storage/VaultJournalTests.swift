import Crypto
import EventLog
import Foundation
import ModelSupport
import Testing

@testable import LMDBStorage

/// The vault's second copy, read back whatever happened to it (Storage, "Vault and erasure").
struct `Journal of a vault` {
    private static let key = SymmetricKey(size: .bits256)

    private static func entry(_ number: UInt64) throws -> VaultItem {
        var randomness = RandomSource.system
        let entry = VaultEntry(
            stream: number << StreamNumber.shardBits,
            digest: SignalDigest(high: number, low: ~number),
            name: StreamName(environment: 1, subject: "customer/\(number)"),
            key: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32)
        )
        let bytes = try entry.sealed(under: key, using: &randomness)
        return .entry(stream: entry.stream, digest: entry.digest, bytes: bytes)
    }

    private static func items() throws -> [VaultItem] {
        try (1...40).map { $0 % 5 == 0 ? .tombstone(stream: $0 - 2) : try entry($0) }
    }

    private static func read(_ bytes: [UInt8]) -> (items: [VaultItem], unreadable: Int) {
        var (items, unreadable) = ([VaultItem](), 0)
        VaultJournalReader.read(bytes.span) { _, part in
            switch part {
            case .item(let item): items.append(item)
            case .unreadable(let count): unreadable += count
            }
        }
        return (items, unreadable)
    }

    @Test func `gives entries and tombstones in their order`() throws {
        let items = try Self.items()
        let read = Self.read(items.flatMap(\.bytes))
        #expect(read.items == items)
        #expect(read.unreadable == 0)
        #expect(Self.read([]).items.isEmpty)
    }

    // Each kind of damage at places that nobody chose; what is whole stays, what is not never
    // comes back as something else.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `what is damaged is passed over, all else is found`(seed: UInt64) throws {
        let words = SeededWords(seed)
        let items = try Self.items()
        var bytes = items.flatMap(\.bytes)
        let start = Int(words.next() % UInt64(bytes.count))
        let count = min(Int(words.next() % 300) + 1, bytes.count - start)
        let before = bytes
        switch seed % 3 {
        case 0:
            for index in start..<start + count {
                bytes[index] ^= UInt8(truncatingIfNeeded: words.next() | 1)
            }
        case 1: bytes.removeSubrange(start..<start + count)
        default:
            bytes.insert(contentsOf: (0..<count).map { _ in UInt8.random(in: 0...255) }, at: start)
        }
        let read = Self.read(bytes)
        #expect(bytes != before)
        #expect(read.items.allSatisfy(items.contains))
        var offset = 0
        for item in items {
            let range = offset..<offset + item.bytes.count
            let isHit =
                range.upperBound > start && range.lowerBound < start + (seed % 3 == 2 ? 1 : count)
            #expect(isHit || read.items.contains(item))
            offset = range.upperBound
        }
    }

    @Test func `a file is read in windows, without a seam`() async throws {
        try await withScratchDirectory { folder in
            let entry = try Self.entry(7)
            let torn = Array(entry.bytes.prefix(70))
            let count = 3 * (1 << 20) / entry.bytes.count
            var bytes: [UInt8] = []
            for _ in 0..<count { bytes += entry.bytes }
            bytes += torn + entry.bytes + VaultItem.tombstone(stream: 4096).bytes + torn
            let path = folder + "/journal"
            try Data(bytes).write(to: URL(filePath: path))
            var (items, unreadable) = (0, [UInt64: Int]())
            try VaultJournalReader.read(path) { offset, part in
                switch part {
                case .item: items += 1
                case .unreadable(let count): unreadable[offset] = count
                }
            }
            #expect(items == count + 2)
            let first = UInt64(count * entry.bytes.count)
            let second = UInt64(bytes.count - torn.count)
            #expect(unreadable == [first: torn.count, second: torn.count])
        }
    }

    // Lengths and magics that somebody else wrote never trap.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `any bytes are read`(seed: UInt64) {
        let words = SeededWords(seed)
        var bytes = (0..<3000).map { _ in UInt8(truncatingIfNeeded: words.next()) }
        for _ in 0..<20 {
            let at = Int(words.next() % 2990)
            let magic = Array((words.next() & 1 == 0 ? "ELV1" : "ELT1").utf8)
            bytes.replaceSubrange(at..<at + 4, with: magic)
            bytes[at + 6] = 0
            bytes[at + 7] = 0
        }
        #expect(Self.read(bytes).items.isEmpty)
    }
}
