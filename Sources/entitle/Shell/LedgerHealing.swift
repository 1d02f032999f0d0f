import ArgumentParser
import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import LMDBStorage
import LedgerOperations

/// Mends a ledger where it stands, as far as that loses nothing: one dead meta page, a lost lock,
/// damaged views, the vault's journal (Storage, "Archive, restore, salvage"; Z5).
///
/// An audit has the last word; what it does not call sound is put back.
struct LedgerHealing {
    let path: String
    let masterKey: [UInt8]

    /// Heals, tells, and ends with 3 where the ledger is not sound in the end.
    func run(_ options: LedgerOptions) throws {
        var healed = try pages()
        var report = try audit()
        let found = kinds(of: report)
        if !found.isEmpty, found.allSatisfy({ $0 == .view || $0 == .vault }) {
            try rebuild(found)
            report = try audit()
            for (kind, part) in [(AuditReport.Kind.view, "views"), (.vault, "journal")]
            where found.contains(kind) && !kinds(of: report).contains(kind) {
                healed.append((part, nil))
            }
        }
        let isSound = report["ok"]?.bool == true
        if options.json {
            Terminal.line(json(healed, report))
        } else {
            for (part, page) in healed {
                let work = page.map { "page \($0) is a copy of page \(1 - $0)" } ?? "made anew"
                Terminal.line("healed \(part): \(work)")
            }
            let faults = report["faults"]?.array?.count ?? 0
            Terminal.line(
                isSound
                    ? healed.isEmpty ? "sound: there was nothing to heal" : "sound"
                    : "DAMAGED: \(faults) faults; `entitle audit` names them, and what to do"
            )
        }
        if !isSound { throw ExitCode.integrity }
    }

    /// Copies meta pages over dead ones; nobody writes meanwhile.
    private func pages() throws -> [(part: String, page: Int?)] {
        let reading = Progress("bytes read")
        let salvage = try LedgerSalvage(
            of: path,
            masterKey: masterKey,
            rules: .records,
            isHealing: true
        ) { reading.show($0, of: $1) }
        reading.finish()
        let dead = try salvage.deadMetaPages(try salvage.plan())
        for page in dead {
            guard let objection = page.objection else { continue }
            throw CommandFailure(
                .integrity,
                "damaged",
                "meta page \(page.page) of the \(page.part) is dead, and \(objection)",
                place: path,
                hint: "`entitle salvage --into NEW` rescues what is intact"
            )
        }
        for page in dead { try page.heal() }
        // Views and archive are other files than those that a copy may have made wrong.
        let others: [AuditReport.Kind?] = [.view, .archive]
        if !dead.isEmpty, !kinds(of: try audit()).allSatisfy(others.contains) {
            for page in dead { try page.undo() }
            return []
        }
        return dead.map { ($0.part, $0.page) }
    }

    private func audit() throws -> JSONValue {
        try AuditChild.report(on: path, masterKey: masterKey, .everything)
    }

    private func kinds(of report: JSONValue) -> [AuditReport.Kind?] {
        (report["faults"]?.array ?? []).map {
            $0["kind"]?.string.flatMap(AuditReport.Kind.init(rawValue:))
        }
    }

    /// Makes anew what is derived: views from the log, the journal from the vault.
    ///
    /// What cannot even be opened stays as the audit found it.
    private func rebuild(_ kinds: [AuditReport.Kind?]) throws {
        do {
            var options = OpenLedger.Options(key: .bytes(masterKey))
            options.mapSize = try Settings.current.checkedMapSize()
            options.recovery = .rebuild
            let open = try OpenLedger(at: path, options: options)
            defer { open.end() }
            if kinds.contains(.view) { _ = try open.ledger.rebuild { _, _ in } }
            if kinds.contains(.vault) { try open.directory.vault.completeJournal() }
        } catch let fault as LogStorageFault where fault.code == .damaged {
            return
        }
    }

    /// The `heal` shape (schemas/heal.schema.json).
    private func json(_ healed: [(part: String, page: Int?)], _ report: JSONValue) -> JSONValue {
        .members([
            "ok": report["ok"] ?? .bool(false),
            "healed": .array(
                healed.map {
                    .members([
                        "part": .string($0.part),
                        "page": $0.page.map { .integer(UInt64($0)) } ?? .null,
                    ])
                }
            ),
            "faults": report["faults"] ?? .array([]),
        ])
    }
}

extension SalvageRules {
    /// What this program knows of records.
    static let records = SalvageRules(
        sharedPartDigest: RecordContent.digest(ofSharedPart:),
        namedStreams: RecordContent.streams(of:),
        erasedStreams: RecordContent.streams(erasedBy:),
        deletedEvidence: RecordContent.evidence(deletedBy:)
    )
}
