/// What became of events that were handed in together, one item for each in their order.
package struct BatchAnswer: Described {
    /// What became of each.
    package var items: [BatchItem]
    /// Events of the log afterwards.
    package var sequence: UInt64

    /// Makes an answer.
    package init(items: [BatchItem], sequence: UInt64) {
        self.items = items
        self.sequence = sequence
    }

    /// Its members, in the order in which they are written; the counts follow from the items.
    package static let fields = Fields(
        "Batch",
        "What became of events that were handed in together",
        { _, _, _, sequence, items in Self(items: items, sequence: sequence) }
    ) {
        count(of: .appended)
        count(of: .duplicate)
        count(of: .refused)
        Field("sequence", \.sequence, .count, "Events of the log afterwards")
        Field("items", \.items, .list(.object))
    }

    private static func count(of outcome: BatchItem.Outcome) -> Field<Self, Int> {
        Field(
            outcome.rawValue,
            { answer in answer.items.count { $0.outcome == outcome } },
            .count
        )
    }
}

/// What became of one event.
package struct BatchItem: Described {
    /// What became of it.
    package var outcome: Outcome
    /// Where it stands; nil: it is refused.
    package var sequence: UInt64?
    /// Why it is refused, a code of a closed set; nil: it is not.
    package var code: String?
    /// The member that is wrong; empty: the whole.
    package var path: String?
    /// A sentence; holds no id.
    package var detail: String?

    /// What may become of one.
    package enum Outcome: String, Sendable, CaseIterable {
        /// It is on the disk.
        case appended
        /// It was there before (E1).
        case duplicate
        /// Nothing of it was recorded.
        case refused
    }

    /// Makes an item.
    package init(
        _ outcome: Outcome,
        sequence: UInt64? = nil,
        code: String? = nil,
        path: String? = nil,
        detail: String? = nil
    ) {
        self.outcome = outcome
        self.sequence = sequence
        self.code = code
        self.path = path
        self.detail = detail
    }

    /// Its members, in the order in which they are written.
    package static let fields = Fields(
        "BatchItem",
        "What became of one event",
        { Self($0, sequence: $1, code: $2, path: $3, detail: $4) }
    ) {
        Field("outcome", \.outcome, .word)
        Field("sequence", \.sequence, .orNull(.count), "Where it stands; null: it is refused")
        Field("code", \.code, .orAbsent(.text), "Why it is refused")
        Field("path", \.path, .orAbsent(.text), "The member that is wrong; empty: the whole")
        Field("detail", \.detail, .orAbsent(.text), "A sentence; holds no id")
    }
}
