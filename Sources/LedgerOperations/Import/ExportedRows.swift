import Encodings

/// Rows of a CSV file (RFC 4180) as JSON objects of their columns: RevenueCat exports transactions so.
struct ExportedRows {
    private let columns: [String]

    /// Columns of a file; exports have some fifty.
    private static let columnLimit = 512
    /// A column that every export has.
    private static let mark = "rc_original_app_user_id"

    /// Takes a file's first line; nil: it names no columns of such an export.
    init?(header: [UInt8]) {
        // Most first lines are JSON.
        guard let first = header.first, first != UInt8(ascii: "{"), first != UInt8(ascii: "["),
            let columns = Self.fields(of: header), columns.contains(Self.mark),
            columns.count <= Self.columnLimit
        else { return nil }
        self.columns = columns
    }

    /// Whether no quoted field begins or ends in a line without doing the other there too.
    static func isWhole(_ line: [UInt8]) -> Bool {
        line.reduce(0) { $0 + ($1 == quote ? 1 : 0) }.isMultiple(of: 2)
    }

    /// The JSON text of a row, without its empty fields; nil: it has not a field for each column.
    func object(_ row: [UInt8]) -> [UInt8]? {
        guard let fields = Self.fields(of: row), fields.count == columns.count else { return nil }
        let members = zip(columns, fields).filter { !$1.isEmpty }
            .map { JSONMember($0, .string($1)) }
        return Array(JSONValue.object(members).description.utf8)
    }

    private static let quote = UInt8(ascii: "\"")

    /// Nil: a quote stands where none may, or the text is not well-formed.
    private static func fields(of row: [UInt8]) -> [String]? {
        var fields: [[UInt8]] = [[]]
        var (isQuoted, isClosed) = (false, false)
        for (index, byte) in row.enumerated() {
            let isLast = index == row.count - 1
            switch byte {
            case quote where isQuoted: (isQuoted, isClosed) = (false, true)
            case quote where isClosed:
                // Two in a quoted field are one.
                fields[fields.count - 1].append(quote)
                (isQuoted, isClosed) = (true, false)
            case quote:
                guard fields[fields.count - 1].isEmpty else { return nil }
                isQuoted = true
            case UInt8(ascii: ",") where !isQuoted:
                fields.append([])
                isClosed = false
            case UInt8(ascii: "\r") where isLast && !isQuoted: break
            default:
                guard !isClosed else { return nil }
                fields[fields.count - 1].append(byte)
            }
        }
        guard !isQuoted else { return nil }
        let texts = fields.compactMap { String(validating: $0, as: UTF8.self) }
        return texts.count == fields.count ? texts : nil
    }
}
