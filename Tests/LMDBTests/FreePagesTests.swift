import Foundation
import LMDB
import Testing

/// What a table has given up is gone from the file.
@Suite struct FreePagesTests {
    private static let secret = Array("a secret that stands nowhere else".utf8)

    /// Whether a secret stands in the data file.
    private static func isReadable(in directory: TemporaryDirectory) throws -> Bool {
        let file = try Data(contentsOf: URL(filePath: directory.path + "/data.mdb"))
        return file.range(of: Data(secret)) != nil
    }

    // Smaller values stand in pages that are in use, too.
    @Test(arguments: [4_000, 10_000])
    func `are blanked, and what stays is whole`(byteCount: Int) throws {
        let directory = try TemporaryDirectory()
        let environment = try Environment(
            path: directory.path,
            options: Environment.Options(mapSize: 1 << 26)
        )
        defer { environment.close() }
        let table = try #require(try environment.table("values", create: true))
        let blanks = try #require(try environment.table("blanks", create: true))
        let value = Self.secret + Array(repeating: 7, count: byteCount)
        let other = Array(repeating: UInt8(9), count: value.count)
        try environment.write { transaction in
            for number in 0..<UInt64(200) {
                try transaction.put(table, Key(number), number % 20 == 0 ? value.span : other.span)
            }
        }
        for number in stride(from: UInt64(0), to: 200, by: 20) {
            try environment.write { try $0.put(table, Key(number), other.span) }
        }
        #expect(try Self.isReadable(in: directory), "the control: free pages hold it")
        let used = environment.statistics.lastPageNumber
        #expect(try environment.blankFreePages(using: blanks))
        #expect(try !Self.isReadable(in: directory))
        #expect(environment.statistics.lastPageNumber < used + 600)
        try environment.read { transaction in
            var count = 0
            try transaction.scan(table, from: nil) { _, found in
                count += (0..<found.count).allSatisfy { found[$0] == 9 } ? 1 : 0
                return true
            }
            expectEqual(count, 200)
        }
    }

    @Test func `are left to a reader who may still look at them`() throws {
        let directory = try TemporaryDirectory()
        let environment = try Environment(
            path: directory.path,
            options: Environment.Options(mapSize: 1 << 26)
        )
        defer { environment.close() }
        let table = try #require(try environment.table("values", create: true))
        let blanks = try #require(try environment.table("blanks", create: true))
        let value = Self.secret + Array(repeating: 7, count: 10_000)
        try environment.write { try $0.put(table, Key(1), value.span) }
        try environment.read { transaction in
            let other = Array(repeating: UInt8(9), count: value.count)
            try environment.write { try $0.put(table, Key(1), other.span) }
            #expect(try !environment.blankFreePages(using: blanks))
            let found = try transaction.get(table, Key(1)) { $0[0] }
            expectEqual(found, Self.secret[0])
        }
        #expect(try Self.isReadable(in: directory))
        #expect(try environment.blankFreePages(using: blanks))
        #expect(try !Self.isReadable(in: directory))
    }
}
