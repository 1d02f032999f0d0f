public import Encodings
import Entitlements
import EventLog

/// How much an audit looks at.
public enum AuditScope: Sendable, CaseIterable {
    /// All there is: records and their checksums, tree, order, evidence, every sealed part,
    /// checkpoints, views.
    case everything
    /// Every record against its hash, the whole tree, order, checkpoints.
    case hashes
    /// What a writer that was stopped may have left half-written: the last records with their keys,
    /// the log's end, its last checkpoints, the views' position. Milliseconds, whatever the size.
    case quick
}

/// What an audit found.
public struct AuditReport: Sendable {
    /// Records that were read.
    public var records: UInt64 = 0
    /// The tree's size as the log states it.
    public var treeSize: UInt64 = 0
    /// The root that was computed from the records.
    public var rootHash = ""
    /// Signed checkpoints that were checked.
    public var checkpoints = 0
    /// What is wrong, in the order in which it was found.
    public var faults: [Fault] = []
    /// Streams of the vault that no record names: normal and harmless.
    public var orphans: UInt64 = 0

    /// Evidence that erasures deleted: no loss.
    public var erased: UInt64 = 0

    /// Faults that are listed.
    static let faultLimit = 1000

    /// One thing that is wrong.
    public struct Fault: Sendable, Hashable {
        /// Which part.
        public var kind: Kind
        /// The record concerned, if it is one.
        public var sequence: UInt64?
        /// A sentence; holds no id.
        public var detail: String
        /// Whether a salvage named it: a loss that is known, and nothing new.
        public var isKnown = false
    }

    /// The parts of a ledger.
    public enum Kind: String, Sendable, CaseIterable {
        case record, tree, checkpoint, view, vault, order, evidence, archive

        /// What to do.
        public var hint: String {
            switch self {
            case .record, .order: "`entitle salvage` puts what is intact into a new ledger"
            case .tree: "`entitle salvage` with an archive or a backup proves what is intact"
            case .checkpoint: "compare with checkpoints that others keep: the log may be rewritten"
            case .view: "`entitle rebuild` makes the views anew from the log"
            case .vault:
                "`entitle salvage --heal` writes a lost journal anew; `entitle salvage` reads lost "
                    + "keys from the journal and from a backup"
            case .evidence: "`entitle salvage` with an archive or a backup brings it back"
            case .archive: "remove what is damaged and run `entitle archive` again"
            }
        }
    }

    /// What is said of a ledger whose reader did not live to report.
    public static let unreadable: AuditReport = {
        var report = AuditReport()
        report.rootHash = TreeHash.emptyRoot.base64
        report.faults.note(.record, nil, "the ledger is damaged so that it cannot be read")
        return report
    }()

    /// Whether nothing is wrong.
    public var isOK: Bool { faults.isEmpty }

    /// The `audit` shape (Interfaces, "Shapes").
    public var json: JSONValue {
        .members([
            "ok": .bool(isOK), "records": .integer(records), "treeSize": .integer(treeSize),
            "rootHash": .string(rootHash), "checkpoints": .integer(checkpoints),
            "faults": .array(faults.map(\.json)),
            "orphans": .integer(orphans), "erased": .integer(erased),
        ])
    }
}

extension AuditReport.Fault {
    fileprivate var json: JSONValue {
        var members = [
            JSONMember("kind", .string(kind.rawValue)),
            JSONMember("sequence", sequence.map { .integer($0) } ?? .null),
            JSONMember("detail", .string(detail)), JSONMember("hint", .string(kind.hint)),
        ]
        if isKnown { members.append(JSONMember("known", .bool(true))) }
        return .object(members)
    }
}

extension [AuditReport.Fault] {
    /// Lists a fault, as long as there are not too many.
    mutating func note(
        _ kind: AuditReport.Kind,
        _ sequence: UInt64?,
        _ detail: String,
        isKnown: Bool = false
    ) {
        guard count < AuditReport.faultLimit else { return }
        append(
            AuditReport.Fault(kind: kind, sequence: sequence, detail: detail, isKnown: isKnown)
        )
    }
}
