import DurableFiles
import EventLog
import Foundation
import LMDB
import Testing

@testable import LMDBStorage

/// What pages in use hold where nothing stands is of no value that was given up.
struct `Gaps between what is in use` {
    private static let secret = Array("a secret that stands nowhere else".utf8)

    private static func isReadable(_ file: String) throws -> Bool {
        try Data(contentsOf: URL(filePath: file)).range(of: Data(secret)) != nil
    }

    /// How many of the values are as they should be.
    private static func wholeValues(_ table: Table, in environment: LMDB.Environment) throws -> Int
    {
        try environment.read { transaction in
            var count = 0
            try transaction.scan(table, from: nil) { _, found in
                count += (0..<found.count).allSatisfy { found[$0] == 9 } ? 1 : 0
                return true
            }
            return count
        }
    }

    // Values within leaves that split, and values with a page of their own that is not full.
    @Test(arguments: [50, 700, 1500, 3000])
    func `are blanked, and what is in use is whole`(byteCount: Int) throws {
        let folder = FileManager.default.temporaryDirectory.path + "/gaps-\(UUID().uuidString)"
        try DurableFile.makeFolder(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/data.mdb"
        func open() throws -> (LMDB.Environment, Table, Table) {
            let environment = try Environment(path: folder, options: .init(mapSize: 1 << 26))
            return try (
                environment, #require(try environment.table("values", create: true)),
                #require(try environment.table("blanks", create: true))
            )
        }
        let value = Array(repeating: UInt8(7), count: byteCount) + Self.secret
        let other = Array(repeating: UInt8(9), count: value.count)
        let (first, values, _) = try open()
        try first.write { transaction in
            for number in 0..<UInt64(200) {
                try transaction.put(values, Key(number), number % 20 == 0 ? value.span : other.span)
            }
        }
        for number in stride(from: UInt64(0), to: 200, by: 20) {
            try first.write { try $0.put(values, Key(number), other.span) }
        }
        first.close()
        let (environment, table, blanks) = try open()
        defer { environment.close() }
        #expect(try Self.isReadable(file), "the control: it stands before")
        try environment.write { _ in try PageGaps.blank(in: file) }
        while try !environment.blankFreePages(using: blanks) {}
        #expect(try !Self.isReadable(file))
        #expect(try Self.wholeValues(table, in: environment) == 200)
        // What LMDB writes on stands on what was blanked.
        try environment.write { transaction in
            for number in 200..<UInt64(400) { try transaction.put(table, Key(number), other.span) }
        }
        #expect(try Self.wholeValues(table, in: environment) == 400)
    }
}
