/// Lines of an import that are handed to a server together: what `POST /v1/import` reads.
package struct ImportBatch: Described {
    /// The lines, in their order.
    package var lines: [ImportLine]
    /// Whether the one line is a JSON document over several lines of its file.
    package var isDocument: Bool

    /// Bytes of all lines together, at most: the longest line behind others.
    package static let byteLimit = 6 << 20

    /// Makes a batch.
    package init(lines: [ImportLine], isDocument: Bool = false) {
        self.lines = lines
        self.isDocument = isDocument
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ImportBatch", "Lines of an import", Self.init) {
        Field("lines", \.lines, .list(.object))
        Field(
            "document",
            \.isDocument,
            .trueOrAbsent,
            "Whether the one line is a JSON document over several lines of its file"
        )
    }
}

/// A line of an import.
package struct ImportLine: Described {
    /// Its number in its file, from 1.
    package var line: Int
    /// What stands there; nil: more than a line may have.
    package var bytes: [UInt8]?

    /// Makes a line.
    package init(line: Int, bytes: [UInt8]?) {
        self.line = line
        self.bytes = bytes
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("ImportLine", "A line of an import", Self.init) {
        Field("line", \.line, .count, "From 1")
        Field("bytes", \.bytes, .orNull(.base64), "In base64; null: longer than a line may be")
    }
}

/// What became of lines of an import, an item for each that they held, up to a refusal that stops.
package struct ImportedBatch: Described {
    /// What became of each.
    package var items: [ImportedItem]
    /// Events of the log afterwards.
    package var sequence: UInt64

    /// Makes an answer.
    package init(items: [ImportedItem], sequence: UInt64) {
        self.items = items
        self.sequence = sequence
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ImportedBatch",
        "What became of lines of an import",
        Self.init
    ) {
        Field("items", \.items, .list(.object))
        Field("sequence", \.sequence, .count, "Events of the log afterwards")
    }
}

/// What became of one thing that a line handed in.
package struct ImportedItem: Described {
    /// What became of it.
    package var line: ImportedLine
    /// What the line was taken for; nil: it could not be told.
    package var format: String?
    /// Whether it is known, and said something else before.
    package var differs: Bool
    /// Why it is refused, a code of a closed set; nil: it is not.
    package var code: String?
    /// The member that is wrong; empty: the whole.
    package var path: String?
    /// A sentence; holds no id.
    package var detail: String?
    /// What is to be quarantined: what was refused; nil: nothing.
    package var bytes: [UInt8]?

    /// Makes an item that is not refused.
    package init(
        _ line: ImportedLine,
        format: String?,
        differs: Bool = false,
        code: String? = nil,
        path: String? = nil,
        detail: String? = nil,
        bytes: [UInt8]? = nil
    ) {
        self.line = line
        self.format = format
        self.differs = differs
        self.code = code
        self.path = path
        self.detail = detail
        self.bytes = bytes
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ImportedItem",
        "What became of one thing that a line handed in",
        { Self($0, format: $1, differs: $2, code: $3, path: $4, detail: $5, bytes: $6) }
    ) {
        Field(inline: \.line)
        Field("format", \.format, .orNull(.text), "What the line was taken for")
        Field("differs", \.differs, .trueOrAbsent, "Known, and said something else before")
        Field("code", \.code, .orAbsent(.text), "Why it is refused")
        Field("path", \.path, .orAbsent(.text), "The member that is wrong; empty: the whole")
        Field("detail", \.detail, .orAbsent(.text), "A sentence; holds no id")
        Field("bytes", \.bytes, .orAbsent(.base64), "What was refused, to be quarantined")
    }
}
