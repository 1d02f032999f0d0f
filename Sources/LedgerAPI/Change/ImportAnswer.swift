/// What an import did: `import`.
///
/// Counts are of items: lines, or webhooks of a line that holds several.
package struct ImportAnswer: Described {
    /// Items whose events were appended.
    package var appended: Int
    /// Items that were known.
    package var duplicate: Int
    /// Items that were refused.
    package var refused: Int
    /// Events of the log afterwards.
    package var sequence: UInt64
    /// What items were taken for.
    package var formats: [Taken]
    /// Known signals that say something else now than what was recorded.
    package var differing: Int
    /// The first of them.
    package var differences: [Differing]
    /// The first refusals; all are counted.
    package var refusals: [Refusal]

    /// Items that were taken for a format.
    package struct Taken: Described {
        /// The format's word.
        package var format: String
        /// How many.
        package var items: Int

        /// Makes a count.
        package init(format: String, items: Int) {
            self.format = format
            self.items = items
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "ImportedFormat",
            "Items that were taken for a format",
            Self.init
        ) {
            Field("format", \.format, .text(.pattern("^[a-z-]+$")))
            Field("items", \.items, .count)
        }
    }

    /// A known signal that says something else now.
    package struct Differing: Described {
        /// Its file, as it was named; nil: standard input, or the quarantine.
        package var file: String?
        /// Its line, from 1.
        package var line: Int
        /// The event that was recorded.
        package var sequence: UInt64

        /// Makes one.
        package init(file: String?, line: Int, sequence: UInt64) {
            self.file = file
            self.line = line
            self.sequence = sequence
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "ImportDifference",
            "A known signal that says something else now",
            Self.init
        ) {
            Field("file", \.file, .orNull(.text), "Null: standard input, or the quarantine")
            Field("line", \.line, .count, "From 1")
            Field("sequence", \.sequence, .count, "The event that was recorded, which stands")
        }
    }

    /// An item that was refused.
    package struct Refusal: Described {
        /// Its file, as it was named; nil: standard input, or the quarantine.
        package var file: String?
        /// Its line, from 1.
        package var line: Int
        /// Why, a code of a closed set.
        package var code: String
        /// The member concerned; empty for the whole.
        package var path: String
        /// A sentence; holds no id.
        package var detail: String

        /// Makes a refusal.
        package init(file: String?, line: Int, code: String, path: String, detail: String) {
            self.file = file
            self.line = line
            self.code = code
            self.path = path
            self.detail = detail
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "ImportRefusal",
            "An item that was refused",
            Self.init
        ) {
            Field("file", \.file, .orNull(.text), "Null: standard input, or the quarantine")
            Field("line", \.line, .count, "From 1")
            Field("code", \.code, .text(.pattern("^[a-z_]+$")))
            Field("path", \.path, .text, "Such as data.expiresAt; empty for the whole")
            Field("detail", \.detail, .text)
        }
    }

    /// Makes an answer.
    package init(
        appended: Int,
        duplicate: Int,
        refused: Int,
        sequence: UInt64,
        formats: [Taken],
        differing: Int,
        differences: [Differing],
        refusals: [Refusal]
    ) {
        self.appended = appended
        self.duplicate = duplicate
        self.refused = refused
        self.sequence = sequence
        self.formats = formats
        self.differing = differing
        self.differences = differences
        self.refusals = refusals
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields("Import", "What an import did", Self.init) {
        Field("appended", \.appended, .count)
        Field("duplicate", \.duplicate, .count)
        Field("refused", \.refused, .count)
        Field("sequence", \.sequence, .count, "Events of the log afterwards")
        Field("formats", \.formats, .list(.object), "What items were taken for")
        Field("differing", \.differing, .count, "Known signals that say something else now")
        Field("differences", \.differences, .list(.object), "At most 10 000 of them")
        Field("refusals", \.refusals, .list(.object), "At most 10 000 of them")
    }
}

/// What became of one item of an import: a line of `import --acknowledge`.
package struct ImportedLine: Described {
    /// Its line, from 1.
    package var line: Int
    /// What became of it.
    package var outcome: Outcome
    /// Its first event; nil: there is none.
    package var sequence: UInt64?

    /// What may become of an item.
    package enum Outcome: String, Sendable, CaseIterable {
        case appended, duplicate, known, refused
    }

    /// Makes a line.
    package init(line: Int, outcome: Outcome, sequence: UInt64?) {
        self.line = line
        self.outcome = outcome
        self.sequence = sequence
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "ImportedLine",
        "What became of one item of an import",
        Self.init
    ) {
        Field("line", \.line, .count, "From 1")
        Field("outcome", \.outcome, .word)
        Field("sequence", \.sequence, .orNull(.count), "Its first event; null: there is none")
    }
}
