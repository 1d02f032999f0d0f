import Encodings
import EntitlementLedger
import Entitlements
import EventLog
import Foundation
import LMDBStorage
import LedgerOperations
import Testing

/// What a shell, a program and a person are told of a fault (Interfaces, "The command").
struct `A fault that a command tells` {
    private struct Unknown: Error {}

    private static let rows: [(any Error, String, Int32, hasPlace: Bool)] = [
        (OperationFault(.usage, "no"), "usage", 64, false),
        (LedgerOpenFault(.missing, "no"), "no_ledger", 66, true),
        (LedgerOpenFault(.foreign, "no"), "not_a_ledger", 65, true),
        (LedgerOpenFault(.foreignLog, "no"), "foreign_log", 3, true),
        (LedgerOpenFault(.newer, "no"), "newer_format", 65, true),
        (LedgerOpenFault(.notEmpty, "no"), "not_empty", 73, true),
        (LedgerOpenFault(.cannotCreate, "no"), "cannot_create", 73, true),
        (LedgerOpenFault(.wrongKey, "no"), "wrong_key", 78, false),
        (LedgerOpenFault(.locked, "no"), "locked", 75, true),
        (LedgerOpenFault(.recovering, "no"), "recovering", 75, true),
        (LedgerOpenFault(.damaged, "no"), "damaged", 3, true),
        (LedgerOpenFault(.treeLost, "no"), "tree_lost", 3, true),
        (LedgerOpenFault(.sameOrigin, "no"), "usage", 64, false),
        (LogStorageFault(.full, "no"), "storage_full", 74, false),
        (LogStorageFault(.outcomeUnknown, "no"), "outcome_unknown", 74, false),
        (LogStorageFault(.damaged, "no"), "damaged", 3, false),
        (LogStorageFault(.replaced, "no"), "replaced", 74, true),
        (LogStorageFault(.unreadable, "no"), "io", 74, false),
        (LogStorageFault(.busy, "no"), "busy", 75, false),
        (LogStorageFault(.newerFormat, "no"), "newer_format", 65, true),
        (ArchiveFault(.missing, "no"), "archive_missing", 66, false),
        (ArchiveFault(.locked, "no"), "archive_locked", 75, false),
        (ArchiveFault(.damaged, "no", sequence: 7), "archive_damaged", 3, true),
        (CocoaError(.fileReadUnknown), "io", 74, false), (Unknown(), "internal", 70, false),
    ]

    @Test func `has a word and an exit code`() {
        for (error, word, status, hasPlace) in Self.rows {
            let fault = OperationFault(telling: error, ofLedgerAt: "/srv/ledger")
            #expect(fault.code.rawValue == word, "\(error)")
            #expect(fault.code.status.rawValue == status, "\(error)")
            #expect((fault.place != nil) == hasPlace, "\(error)")
            #expect(fault.json["exitCode"]?.integer == Int64(status))
            #expect(fault.json["code"]?.string == word)
        }
    }

    // E1: to run it again under another id would record it twice
    @Test func `names the request's id where nobody knows whether it stands`() {
        let doubt = LogStorageFault(.outcomeUnknown, "no")
        let fault = OperationFault(inDoubt: doubt, id: "4711", ofLedgerAt: "/srv/ledger")
        #expect(fault.code.rawValue == "outcome_unknown")
        #expect(fault.hint?.contains("--id 4711") == true)
    }

    @Test func `is another where a file may not be read than where it is not there`() {
        for (error, code) in [
            (CocoaError(.fileReadNoPermission), OperationFault.Code.notPermitted),
            (CocoaError(.fileReadNoSuchFile), .noInput), (CocoaError(.fileReadUnknown), .noInput),
        ] {
            let fault = OperationFault(reading: "/f", error, as: .noInput, "no")
            #expect(fault.code == code && fault.place == "/f")
        }
    }

    // What a server's refusal names is named as the ledger's own is.
    @Test(arguments: [("; near it: export, exports", ["export", "exports"]), ("", [])])
    func `of a feature keeps the names that are near`(_ words: String, _ near: [String]) {
        let answered = Refusal(.unknownFeature, "feature", "no catalog lists it" + words)
        let fault = OperationFault(answered).ofFeatureArgument
        #expect(fault == OperationFault(unknownFeatureNear: near) && fault.place == "FEATURE")
        let other = OperationFault(.usage, "no; near it: this")
        #expect(other.ofFeatureArgument == other)
    }

    @Test func `says when there are uses again`() {
        let instant = Instant(milliseconds: 1_800_000_000_000)
        let refusal = Refusal(.overLimit, "amount", "the limit is used up", resetsAt: instant)
        let fault = OperationFault(refusal)
        #expect(fault.code.status == .no && fault.place == "amount")
        #expect(fault.json["resetsAt"]?.string == instant.description)
        let conflict = OperationFault(Refusal(.conflict, "", "other content"))
        #expect(conflict.code.status == .conflict && conflict.place == nil)
        #expect(conflict.json["resetsAt"] == nil)
    }
}
