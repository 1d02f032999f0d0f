import Crypto
import DurableFiles
import EventLog
import Glibc
import Testing

@testable import LMDBStorage

/// The master key of a ledger that keeps its own, while it is replaced by another (rows 7.6 and 9.1).
struct `A ledger's own master key` {
    private static let digits = String(repeating: "07", count: 32) + "\n"
    private static let other = String(repeating: "5c", count: 32) + "\n"

    /// Lends the directory of a ledger that keeps its key itself.
    private static func with(_ body: (_ path: String) throws -> Void) async throws {
        try await withScratchDirectory { folder in
            let path = folder + "/ledger"
            try LedgerDirectory.createSample(
                at: path,
                masterKey: [UInt8](repeating: 0x07, count: 32)
            )
            try DurableFile.replace(path + "/key", with: Array(digits.utf8))
            try body(path)
        }
    }

    private static func epochKeys(_ path: String, by byte: UInt8) throws -> EpochKeys {
        let masterKey = [UInt8](repeating: byte, count: 32)
        return try EpochKeyFile(vaultPath: path + "/vault", masterKey: masterKey).read()
    }

    @Test func `is replaced by one process at a time`() async throws {
        try await Self.with { path in
            let before = try Self.epochKeys(path, by: 0x07)
            let lock = try #require(try DurableFile.lock(path + "/key.lock"))
            #expect {
                _ = try LedgerDirectory.rotateOwnMasterKey(at: path, randomness: .system)
            } throws: {
                ($0 as? LedgerOpenFault)?.code == .locked
            }
            #expect(!DurableFile.exists(path + "/key.new"), "none is drawn")
            #expect(try Self.epochKeys(path, by: 0x07).shards == before.shards)
            close(lock)
            // The control, and what is left behind.
            try DurableFile.replace(path + "/key.new", with: Array(Self.other.utf8))
            #expect(try LedgerDirectory.rotateOwnMasterKey(at: path, randomness: .system) == [])
            #expect(try DurableFile.read(path + "/key") == Array(Self.other.utf8))
            #expect(try Self.epochKeys(path, by: 0x5C).shards == before.shards)
            let names = try DurableFile.names(in: path).filter { $0.hasPrefix("key") }
            #expect(names.sorted() == ["key", "key.lock"])
        }
    }

    // An older program, say, that does the same takes no lock.
    @Test func `stays the one that wraps, where its file was taken away meanwhile`() async throws {
        try await Self.with { path in
            let next = path + "/key.new"
            try DurableFile.replace(next, with: Array(Self.other.utf8))
            let randomness = RandomSource {
                // What it draws it draws to wrap the keys: both files were read by then.
                DurableFile.remove(next)
                return UInt64.random(in: 0 ... .max)
            }
            _ = try LedgerDirectory.rotateOwnMasterKey(at: path, randomness: randomness)
            #expect(try DurableFile.read(path + "/key") == Array(Self.other.utf8))
            #expect(throws: Never.self) { try Self.epochKeys(path, by: 0x5C) }
        }
    }
}
