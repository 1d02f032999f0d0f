/// What checking an export found; needs no ledger: `check-export`.
package struct ExportCheckAnswer: Described {
    /// Records whose place in the tree was proven.
    package var records: UInt64
    /// The ledger's key, by which everything was verified; nil: there is none.
    package var key: String?
    /// Whether the key was given, rather than taken from the export itself.
    package var isKeyGiven: Bool
    /// The checkpoint's size; nil: it is not signed by the key.
    package var size: UInt64?
    /// What is wrong, in the order of finding; at most `faultLimit`.
    package var faults: [Fault]

    /// More are not listed.
    package static let faultLimit = 1000

    /// One thing that is wrong.
    package struct Fault: Described {
        /// What kind.
        package var kind: Kind
        /// The file; nil: the export as a whole.
        package var file: String?
        /// The record; nil: none in particular.
        package var sequence: UInt64?
        /// A sentence; holds no id.
        package var detail: String

        /// Names a fault.
        package init(kind: Kind, file: String?, sequence: UInt64?, detail: String) {
            self.kind = kind
            self.file = file
            self.sequence = sequence
            self.detail = detail
        }

        /// Its members, in the order in which they are written.
        package static let fields = Fields(
            "ExportFault",
            "What is wrong with an export",
            Self.init
        ) {
            Field("kind", \.kind, .word)
            Field("file", \.file, .orNull(.text))
            Field("sequence", \.sequence, .orNull(.count))
            Field("detail", \.detail, .text)
        }
    }

    /// The closed set of faults.
    package enum Kind: String, Sendable, CaseIterable {
        /// The manifest is missing, unreadable, or not signed by the key.
        case manifest
        /// A file is missing, too much, or has other bytes.
        case file
        /// The checkpoint is unreadable or not signed by the key.
        case checkpoint
        /// A record is not whole, or is another than said.
        case record
        /// A record does not belong to the checkpoint's tree.
        case proof
        /// An event says otherwise than its record.
        case event
    }

    /// Begins with nothing found.
    ///
    /// `isKeyGiven`: whether the key was given, rather than taken from the export itself.
    package init(isKeyGiven: Bool) {
        records = 0
        self.isKeyGiven = isKeyGiven
        faults = []
    }

    /// Whether nothing is wrong.
    package var isOK: Bool { faults.isEmpty }

    /// Lists a fault, as long as there are not too many.
    package mutating func note(
        _ kind: Kind,
        _ file: String?,
        _ sequence: UInt64? = nil,
        _ detail: String
    ) {
        guard faults.count < Self.faultLimit else { return }
        faults.append(Fault(kind: kind, file: file, sequence: sequence, detail: detail))
    }

    /// Its members, in the order in which they are written; `ok` follows from the faults.
    package static let fields = Fields(
        "ExportCheck",
        "What checking an export found",
        { _, records, key, isKeyGiven, size, faults in
            var answer = Self(isKeyGiven: isKeyGiven)
            (answer.records, answer.key) = (records, key)
            (answer.size, answer.faults) = (size, faults)
            return answer
        }
    ) {
        Field("ok", \.isOK, .boolean)
        Field("records", \.records, .count, "Records whose place in the tree was proven")
        Field("key", \.key, .orNull(.text))
        Field(
            "keyGiven",
            \.isKeyGiven,
            .boolean,
            "Whether the key was given, rather than named by the export itself"
        )
        Field("checkpointSize", \.size, .orNull(.count))
        Field("faults", \.faults, .list(.object))
    }
}
