import DurableFiles
import Encodings
import EventLog
import Foundation
import LMDB
import Synchronization
import Testing

@testable import LMDBStorage

/// A vault in use, of so many streams that they stand on many pages.
private enum VaultInUse {
    /// Lends its ledger and its streams, ascending; nothing is on its way.
    static func with(
        _ count: Int,
        _ body: (StreamPlace, _ streams: [UInt64]) throws -> Void
    ) async throws {
        try await withScratchDirectory { folder in
            let place = try StreamPlace(folder)
            defer { place.directory.close() }
            let streams = try place.commit(0..<count)
            try place.vault.drawIn()
            place.vault.names.finish()
            try body(place, streams)
        }
    }
}

/// Damage to the pages of streams (LMDB 0.9, `mdb.c`: `MDB_page`, `MDB_node`).
enum StreamPageDamage: CaseIterable, Sendable {
    /// A bit of the size of a key, which has 8 bytes.
    case longerKey, emptyKey
    /// A branch leads to one leaf twice, and past the next.
    case branch

    private typealias Change = (place: Int, bytes: [UInt8])

    /// Damages the file of a vault that is open: at a stream, or in the middle.
    func apply(to file: String, at stream: UInt64) throws {
        let content = [UInt8](try Data(contentsOf: URL(filePath: file)))
        var count = 0
        for start in stride(from: 0, to: content.count, by: DatabasePage.usualSize) {
            let page = Array(content[start..<min(start + DatabasePage.usualSize, content.count)])
            for change in changes(of: page, at: stream) {
                let place = UInt64(start + change.place)
                try DurableFile.overwrite(file, at: place, with: change.bytes)
                count += 1
            }
        }
        try #require(count > 0)
    }

    private func changes(of page: [UInt8], at stream: UInt64) -> [Change] {
        switch self {
        case .longerKey: Self.keySize(of: stream, in: page, bit: 0)
        case .emptyKey: Self.keySize(of: stream, in: page, bit: 3)
        case .branch: Self.repetition(in: page)
        }
    }

    /// The size of a key stands right before it.
    private static func keySize(of stream: UInt64, in page: [UInt8], bit: Int) -> [Change] {
        var found: [Change] = []
        DatabasePage.forEachNode(page.span) { node in
            guard Array(page[node.key]) == stream.bigEndianBytes,
                case .inline(let value) = node.value, page[value].starts(with: "ELV1".utf8)
            else { return }
            let place = node.key.lowerBound - 2
            found.append((place, [page[place] ^ (1 << UInt8(bit))]))
        }
        return found
    }

    /// The page that a branch leads to stands at the beginning of a node.
    private static func repetition(in page: [UInt8]) -> [Change] {
        guard DatabasePage.kind(page.span) == .branch else { return [] }
        let places = stride(from: DatabasePage.headerCount, to: word(page, 12), by: 2)
        let nodes = places.map { word(page, $0) }
            .filter { $0 + 8 <= page.count && word(page, $0 + 6) == 8 }
        guard nodes.count > 3 else { return [] }
        let middle = nodes.count / 2
        let before = nodes[middle - 1]
        return [(nodes[middle], Array(page[before..<before + 6]))]
    }

    private static func word(_ page: [UInt8], _ place: Int) -> Int {
        Int(page[place]) | Int(page[place + 1]) << 8
    }
}

/// Pages have no checksum: what a damaged one leads past would be missing without a word (Storage, "Vault
/// and erasure").
struct `A vault with a damaged page` {
    private static let count = 3000

    @Test(arguments: StreamPageDamage.allCases)
    func `is copied to no backup, and the older copy stands`(
        _ damage: StreamPageDamage
    ) async throws {
        try await VaultInUse.with(Self.count) { place, streams in
            let copy = place.path + "-copy"
            // The control.
            #expect(try place.copyVault(to: copy).streams == Self.count)
            let journal = copy + "/journal"
            #expect(try VaultItem.all(in: journal).map(\.stream) == streams)
            let sound = try DurableFile.read(journal)
            try damage.apply(to: place.path + "/vault/data.mdb", at: streams[Self.count / 2])
            let fault = #expect(throws: LogStorageFault.self) {
                _ = try place.copyVault(to: copy)
            }
            #expect(fault?.code == .damaged)
            #expect(try DurableFile.read(journal) == sound)
        }
    }

    // `nil`: the control.
    @Test(arguments: [nil, .longerKey, .emptyKey, .branch] as [StreamPageDamage?])
    func `keeps its journal, which is written anew from a sound one alone`(
        _ damage: StreamPageDamage?
    ) async throws {
        try await VaultInUse.with(Self.count) { place, streams in
            let journal = place.path + "/vault/journal"
            let items = try VaultItem.all(in: journal).map(\.bytes)
            try place.vault.writer.withLock { writer in
                for _ in 0..<4 { try writer.journal?.append(items) }
            }
            let before = try #require(try DurableFile.byteCount(journal))
            try damage?.apply(to: place.path + "/vault/data.mdb", at: streams[Self.count / 2])
            place.vault.compactJournal()
            place.vault.compacting.sync {}
            let after = try #require(try DurableFile.byteCount(journal))
            #expect((after < before / 2) == (damage == nil))
            #expect(try Set(VaultItem.all(in: journal).map(\.stream)) == Set(streams))
        }
    }

    @Test(arguments: StreamPageDamage.allCases)
    func `has its journal completed but for what is damaged, which is told`(
        _ damage: StreamPageDamage
    ) async throws {
        try await VaultInUse.with(Self.count) { place, streams in
            let journal = place.path + "/vault/journal"
            let lost = try VaultItem.all(in: journal).suffix(100).map(\.bytes.count).reduce(0, +)
            let file = try FileHandle(forWritingTo: URL(filePath: journal))
            let end = try file.seekToEnd()
            try file.truncate(atOffset: end - UInt64(lost))
            try file.close()
            #expect(try VaultItem.all(in: journal).count == Self.count - 100)
            try damage.apply(to: place.path + "/vault/data.mdb", at: streams[Self.count / 2])
            let fault = #expect(throws: LogStorageFault.self) {
                try place.vault.completeJournal()
            }
            #expect(fault?.code == .damaged)
            #expect(try Set(VaultItem.all(in: journal).map(\.stream)) == Set(streams))
        }
    }
}

struct `A copy of a vault in use` {
    // A reader lives for moments: what it looks at is not used again.
    @Test func `keeps no reader while it waits for its disk`() async throws {
        try await VaultInUse.with(12_000) { place, streams in
            let (pipe, ended) = (Pipe(), DispatchGroup())
            let file = dup(pipe.fileHandleForWriting.fileDescriptor)
            try pipe.fileHandleForWriting.close()
            let (table, environment) = (place.vault.streams, place.vault.environment)
            let outcome = Mutex<Result<VaultCounts, any Error>?>(nil)
            ended.enter()
            Thread.detachNewThread {
                let result = Result { try VaultCopy.write(table, of: environment, to: file) }
                outcome.withLock { $0 = result }
                close(file)
                ended.leave()
            }
            // Behind the first byte it waits: a pipe has less room than it writes at once.
            var bytes = [UInt8](try #require(try pipe.fileHandleForReading.read(upToCount: 1)))
            try place.commit(12_000..<12_001)
            try place.vault.drawIn()
            #expect(environment.statistics.oldestReaderCommits == 0)
            bytes += try pipe.fileHandleForReading.readToEnd() ?? Data()
            ended.wait()
            // A pipe is not synced, which is the last that is done.
            let result = outcome.withLock { $0 }
            let fault = #expect(throws: FileFault.self) { _ = try result?.get() }
            #expect(fault?.operation == "fsync")
            var copied: [UInt64] = []
            VaultJournalReader.read(bytes.span) { _, part in
                if case .item(let item) = part { copied.append(item.stream) }
            }
            #expect(copied == streams)
        }
    }
}
