/// What an audit found: `audit`.
public struct AuditAnswer: Described {
    /// Records that were read.
    public var records: UInt64
    /// The tree's size as the log states it.
    public var treeSize: UInt64
    /// The root that was computed from the records, in base64; nil: they or the tree could not be
    /// read.
    public var rootHash: String?
    /// Signed checkpoints that were checked.
    public var checkpoints: Int
    /// What is wrong, in the order in which it was found; at most `faultLimit`, but for what others
    /// add.
    public var faults: [AuditFault]
    /// Streams of the vault that no record names: normal and harmless; 0 where the vault was not
    /// checked.
    public var orphans: UInt64
    /// Evidence that erasures deleted: no loss.
    public var erased: UInt64

    /// Faults that are listed.
    package static let faultLimit = 1000

    /// Makes an answer.
    package init(
        records: UInt64 = 0,
        treeSize: UInt64 = 0,
        rootHash: String? = nil,
        checkpoints: Int = 0,
        faults: [AuditFault] = [],
        orphans: UInt64 = 0,
        erased: UInt64 = 0
    ) {
        self.records = records
        self.treeSize = treeSize
        self.rootHash = rootHash
        self.checkpoints = checkpoints
        self.faults = faults
        self.orphans = orphans
        self.erased = erased
    }

    /// Whether nothing is wrong.
    public var isOK: Bool { faults.isEmpty }

    /// Its members, in the order in which they are written; `ok` follows from the faults.
    package static let fields = Fields(
        "Audit",
        "What an audit found",
        { _, records, treeSize, rootHash, checkpoints, faults, orphans, erased in
            Self(
                records: records,
                treeSize: treeSize,
                rootHash: rootHash,
                checkpoints: checkpoints,
                faults: faults,
                orphans: orphans,
                erased: erased
            )
        }
    ) {
        Field("ok", \.isOK, .boolean)
        Field("records", \.records, .count)
        Field("treeSize", \.treeSize, .count)
        Field(
            "rootHash",
            \.rootHash,
            .orNull(.text(.common(.digest))),
            "As the records give it, of a quick audit the tiles; null where these cannot be read"
        )
        Field("checkpoints", \.checkpoints, .count)
        Field("faults", \.faults, .list(.object))
        Field(
            "orphans",
            \.orphans,
            .count,
            "Streams that no record names: normal and harmless; 0 where not everything was checked"
        )
        Field(
            "erased",
            \.erased,
            .count,
            "Evidence that erasures deleted: no loss; 0 where not everything was checked"
        )
    }
}

/// One thing that is wrong with a ledger.
public struct AuditFault: Described {
    /// Which part.
    public var kind: Kind
    /// The record concerned, if it is one.
    public var sequence: UInt64?
    /// A sentence; holds no id.
    public var detail: String
    /// Whether a salvage named it: a loss that is known, and nothing new.
    public var isKnown: Bool

    /// The parts of a ledger.
    public enum Kind: String, Sendable, CaseIterable {
        case record, tree, checkpoint, view, vault, order, evidence, archive

        /// What to do.
        public var hint: String {
            switch self {
            case .record, .order: "`entitle salvage` puts what is intact into a new ledger"
            case .tree: "`entitle salvage` with an archive or a backup proves what is intact"
            case .checkpoint: "compare with checkpoints that others keep: the log may be rewritten"
            case .view:
                "`entitle rebuild` makes the views anew from the log, unless that is damaged, too"
            case .vault:
                "`entitle salvage --heal` writes a lost journal anew; `entitle salvage` reads lost "
                    + "keys from the journal and from a backup"
            case .evidence: "`entitle salvage` with an archive or a backup brings it back"
            case .archive:
                "move the archive away and run `entitle archive`, which writes it anew; keep the old one "
                    + "where the log lost something"
            }
        }
    }

    /// Makes a fault.
    package init(_ kind: Kind, _ sequence: UInt64?, _ detail: String, isKnown: Bool = false) {
        self.kind = kind
        self.sequence = sequence
        self.detail = detail
        self.isKnown = isKnown
    }

    /// Its members, in the order in which they are written; the hint follows from the kind.
    package static let fields = Fields(
        "AuditFault",
        "One thing that is wrong",
        { kind, sequence, detail, _, isKnown in Self(kind, sequence, detail, isKnown: isKnown) }
    ) {
        Field("kind", \.kind, .word)
        Field("sequence", \.sequence, .orNull(.count), "The record concerned, if it is one")
        Field("detail", \.detail, .text)
        Field("hint", \.kind.hint, .text, "What to do")
        Field(
            "known",
            \.isKnown,
            .trueOrAbsent,
            "Where a salvage named this loss: nothing new"
        )
    }
}
