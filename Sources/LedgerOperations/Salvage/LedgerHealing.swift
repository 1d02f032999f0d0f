public import EntitlementLedger
import EventLog
import LMDBStorage

/// Mends a ledger where it stands, as far as that loses nothing: one dead meta page, a lost lock,
/// damaged views, the vault's journal (Z5).
///
/// An audit has the last word; what it does not call sound is put back.
public struct LedgerHealing {
    private let path: String
    private let options: OpenLedger.Options
    private let audit: () throws -> Findings

    /// What an audit of the ledger found.
    public struct Findings: Sendable {
        /// The kinds of its faults; nil: one that this program does not know.
        public var kinds: [AuditReport.Kind?]

        /// Tells what was found.
        public init(kinds: [AuditReport.Kind?]) { self.kinds = kinds }

        fileprivate func isOnly(_ others: Set<AuditReport.Kind?>) -> Bool {
            kinds.allSatisfy(others.contains)
        }
    }

    /// What was mended.
    public struct Part: Sendable, Equatable {
        /// `log` or `vault`, of which a page was copied; `views` or `journal`, made anew.
        public var name: String
        /// The meta page that is a copy of the other one; nil: made anew.
        public var page: Int?
    }

    /// `options`: what the ledger is opened with to make parts of it anew.
    ///
    /// `audit`: audits all of it, best in a process of its own: a damaged file may end its reader.
    public init(
        of path: String,
        options: OpenLedger.Options,
        audit: @escaping () throws -> Findings
    ) {
        self.path = path
        self.options = options
        self.audit = audit
    }

    /// Heals; what the last audit found afterwards is how the ledger stands.
    ///
    /// `progress`: told of the bytes that are read.
    ///
    /// - Throws: `OperationFault.damaged` where healing would lose something, `LedgerOpenFault`,
    ///   `LogStorageFault`, `FileFault`.
    public func run(progress: (UInt64, UInt64) -> Void = { _, _ in }) throws -> [Part] {
        var healed = try pages(progress)
        let found = try audit()
        guard !found.kinds.isEmpty, found.isOnly([.view, .vault]) else { return healed }
        try rebuild(found)
        let left = try audit()
        for (kind, part) in [(AuditReport.Kind.view, "views"), (.vault, "journal")]
        where found.kinds.contains(kind) && !left.kinds.contains(kind) {
            healed.append(Part(name: part, page: nil))
        }
        return healed
    }

    /// Copies meta pages over dead ones; nobody writes meanwhile.
    private func pages(_ progress: (UInt64, UInt64) -> Void) throws -> [Part] {
        let salvage = try LedgerSalvage(
            of: path,
            masterKey: options.key.read(of: path),
            rules: .records,
            isHealing: true,
            progress: progress
        )
        let dead = try salvage.deadMetaPages(try salvage.plan())
        for page in dead {
            guard let objection = page.objection else { continue }
            throw OperationFault(
                .damaged,
                "meta page \(page.page) of the \(page.part) is dead, and \(objection)",
                place: path,
                hint: "`entitle salvage --into NEW` rescues what is intact"
            )
        }
        for page in dead { try page.heal() }
        // Views and archive are other files than those that a copy may have made wrong.
        if !dead.isEmpty, try !audit().isOnly([.view, .archive]) {
            for page in dead { try page.undo() }
            return []
        }
        return dead.map { Part(name: $0.part, page: $0.page) }
    }

    /// Makes anew what is derived: views from the log, the journal from the vault.
    ///
    /// What cannot even be opened stays as the audit found it.
    private func rebuild(_ found: Findings) throws {
        do {
            var options = options
            options.recovery = .rebuild
            let open = try OpenLedger(at: path, options: options)
            // What was recorded stands (E3): views are remade from it at any time.
            defer { try? open.close() }
            if found.kinds.contains(.view) { _ = try open.ledger.rebuild { _, _ in } }
            if found.kinds.contains(.vault) { try open.directory.vault.completeJournal() }
        } catch let fault as LogStorageFault where fault.code == .damaged {
            return
        }
    }
}
