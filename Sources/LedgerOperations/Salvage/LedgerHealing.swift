import DurableFiles
import EntitlementLedger
import EventLog
import LMDBStorage
public import LedgerAPI

/// Mends a ledger where it stands, as far as that loses nothing: one dead meta page, a lost lock,
/// damaged views, the vault's journal (Z5).
///
/// An audit has the last word; what it does not call sound, or cannot look at, is put back.
public struct LedgerHealing {
    private let path: String
    private let options: OpenLedger.Options
    private let audit: () throws -> AuditAnswer

    /// `options`: what the ledger is opened with to make parts of it anew.
    ///
    /// `audit`: audits all of it, best in a process of its own: a damaged file may end its reader.
    public init(
        of path: String,
        options: OpenLedger.Options,
        audit: @escaping () throws -> AuditAnswer
    ) {
        self.path = path
        self.options = options
        self.audit = audit
    }

    /// Heals, and says what the last audit found.
    ///
    /// `progress`: told of the bytes that are read.
    ///
    /// - Throws: `OperationFault.damaged` where healing would lose something, `LedgerOpenFault`,
    ///   `LogStorageFault`, `FileFault`.
    public func run(progress: (UInt64, UInt64) -> Void = { _, _ in }) throws -> HealAnswer {
        let pages = try pages(progress)
        let found = try audit()
        var answer = HealAnswer(healed: pages, faults: found.faults)
        guard !found.isOK, found.isOnly(of: [.view, .vault]) else { return answer }
        try rebuild(found)
        let left = try audit()
        answer.faults = left.faults
        for (kind, part) in [(AuditFault.Kind.view, HealedPart.Name.views), (.vault, .journal)]
        where found.has(kind) && !left.has(kind) {
            answer.healed.append(HealedPart(part, page: nil))
        }
        return answer
    }

    /// Copies meta pages over dead ones; nobody writes meanwhile.
    private func pages(_ progress: (UInt64, UInt64) -> Void) throws -> [HealedPart] {
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
        guard try copy(over: dead) else { return [] }
        return dead.map { HealedPart($0.part == .log ? .log : .vault, page: $0.page) }
    }

    /// Copies meta pages over dead ones; false: an audit does not call what comes of it sound, and they are put
    /// back.
    private func copy(over dead: [DeadMetaPage]) throws -> Bool {
        guard !dead.isEmpty else { return true }
        do {
            for page in dead { try page.heal() }
            // Views and archive are other files than those that a copy may have made wrong.
            if try audit().isOnly(of: [.view, .archive]) { return true }
        } catch {
            // Nobody called it sound.
            for page in dead { try page.undo() }
            throw error
        }
        for page in dead { try page.undo() }
        return false
    }

    /// Makes anew what is derived: views from the log, the journal from the vault.
    ///
    /// What cannot even be opened stays as the audit found it.
    private func rebuild(_ found: AuditAnswer) throws {
        do {
            var options = options
            options.recovery = .rebuild
            let open = try OpenLedger(at: path, options: options)
            // What was recorded stands (E3): views are remade from it at any time.
            defer { try? open.close() }
            if found.has(.view) { _ = try open.ledger.auditor.rebuild { _, _ in } }
            if found.has(.vault) { try open.directory.vault.completeJournal() }
        } catch let fault as LogStorageFault where fault.code == .damaged {
            return
        }
    }
}

extension AuditAnswer {
    fileprivate func has(_ kind: AuditFault.Kind) -> Bool { faults.contains { $0.kind == kind } }

    fileprivate func isOnly(of kinds: [AuditFault.Kind]) -> Bool {
        faults.allSatisfy { kinds.contains($0.kind) }
    }
}
