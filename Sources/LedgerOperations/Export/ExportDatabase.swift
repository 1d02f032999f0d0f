import DurableFiles
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import SQLite

/// Writes an export's tables as a SQLite database.
struct ExportDatabase {
    private let database: Database
    private let inserts: [(table: ExportTable, statement: Database.Statement)]

    /// Makes the file anew.
    init(_ path: String, _ tables: [ExportTable]) throws {
        // A journal of an export that was stopped would be played back into the new file.
        for suffix in ["", "-journal"] { DurableFile.remove(path + suffix) }
        try OutputFile.create("", at: path)
        // SQLite follows no link, not even one that leads to the folder.
        let file = URL(filePath: path)
        let folder = file.deletingLastPathComponent().resolvingSymlinksInPath()
        let database = try Database(path: folder.appending(path: file.lastPathComponent).path)
        self.database = database
        for table in tables { try database.run(Self.definition(of: table)) }
        inserts = try tables.map { ($0, try database.prepare(Self.insertion(into: $0))) }
        try database.run("BEGIN")
    }

    func write(_ part: ExportPart, _ line: ExportLine) throws {
        for (table, statement) in inserts where table.part == part {
            for row in table.rows(of: line) {
                try statement.run(zip(table.columns, row).map { Self.value($1, in: $0) })
            }
        }
    }

    func close() throws { try database.run("COMMIT") }

    private static func definition(of table: ExportTable) -> String {
        let columns = table.columns.map { "\"\($0)\"" }.joined(separator: ",")
        return "CREATE TABLE \"\(table.name)\" (\(columns))"
    }

    private static func insertion(into table: ExportTable) -> String {
        let places = table.columns.map { _ in "?" }.joined(separator: ",")
        return "INSERT INTO \"\(table.name)\" VALUES (\(places))"
    }

    /// Numbers of events and streams as integers, so that tables join by them; records as bytes.
    private static func value(_ cell: JSONValue, in column: String) -> Database.Value {
        if ["sequence", "stream"].contains(column), let number = cell.string.flatMap({ Int64($0) })
        {
            return .integer(number)
        }
        if column == "record", let bytes = cell.string.flatMap({ Base64.decode($0) }) {
            return .blob(bytes)
        }
        switch cell {
        case .null: return .null
        case .bool(let flag): return .integer(flag ? 1 : 0)
        case .string(let text): return .text(text)
        case .number(let digits):
            return Int64(digits).map { .integer($0) } ?? .text(digits)
        // No table has one: its cells are flat.
        case .array, .object: return .null
        }
    }
}
