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
            let columns = Row(header).fields, columns.contains(Self.mark),
            columns.count <= Self.columnLimit
        else { return nil }
        self.columns = columns
    }

    /// The JSON text of a row, without its empty fields; nil: it has not a field for each column.
    func object(_ row: Row) -> [UInt8]? {
        guard let fields = row.fields, fields.count == columns.count else { return nil }
        let members = zip(columns, fields).filter { !$1.isEmpty }
            .map { JSONMember($0, .string($1)) }
        return Array(JSONValue.object(members).description.utf8)
    }

    /// A row that is read line by line.
    struct Row {
        private var parts: [[UInt8]] = [[]]
        /// Whether it stands in a quoted field.
        private var isQuoted = false
        /// Whether it stands behind the end of a quoted field.
        private var isClosed = false
        /// Whether a quote stands where none may.
        private var isMalformed = false

        private static let quote = UInt8(ascii: "\"")

        /// Begins with the row's first line.
        init(_ line: [UInt8]) { take(line) }

        /// Whether it goes on in the next line: a quoted field has begun where one may, and not ended.
        var isOpen: Bool { isQuoted && !isMalformed }

        /// Goes on with the next line.
        mutating func add(_ line: [UInt8]) { take([0x0A] + line) }

        /// Nil: a quote stands where none may, or the text is not well-formed.
        var fields: [String]? {
            guard !isQuoted, !isMalformed else { return nil }
            let texts = parts.compactMap { String(validating: $0, as: UTF8.self) }
            return texts.count == parts.count ? texts : nil
        }

        private mutating func take(_ bytes: [UInt8]) {
            for (index, byte) in bytes.enumerated() {
                switch byte {
                case Self.quote where isQuoted: (isQuoted, isClosed) = (false, true)
                case Self.quote where isClosed:
                    // Two in a quoted field are one.
                    parts[parts.count - 1].append(Self.quote)
                    (isQuoted, isClosed) = (true, false)
                case Self.quote where parts[parts.count - 1].isEmpty: isQuoted = true
                case UInt8(ascii: ",") where !isQuoted:
                    parts.append([])
                    isClosed = false
                // A line's end as some programs write it.
                case UInt8(ascii: "\r") where index == bytes.count - 1 && !isQuoted: break
                default:
                    guard byte != Self.quote, !isClosed else {
                        isMalformed = true
                        return
                    }
                    parts[parts.count - 1].append(byte)
                }
            }
        }
    }
}
