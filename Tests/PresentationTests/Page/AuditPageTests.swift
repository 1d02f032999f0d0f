import Entitlements
import LedgerAPI
import Presentation
import Testing

/// What an audit found, as a page and in lines.
struct `An audit for people` {
    private static let damaged = AuditAnswer(
        records: 3,
        faults: [AuditFault(.record, 2, "<b>\"it's\" & more</b>")]
    )

    @Test func `is a page on which nothing is markup but its own`() {
        let page = AuditPage.html(Self.damaged, at: Instant(milliseconds: 0))
        #expect(page.contains("<td>&lt;b&gt;&quot;it's&quot; &amp; more&lt;/b&gt;</td>"))
        #expect(page.contains("<title>Ledger audit: Damaged</title>"))
        #expect(page.contains("<th>Audited</th><td>1970-01-01T00:00:00.000Z</td>"))
        #expect(!page.contains("<script") && !page.contains("http"))
    }

    @Test func `says that nothing is wrong`() {
        let page = AuditPage.html(AuditAnswer(records: 3), at: Instant(milliseconds: 0))
        #expect(page.contains("Ledger audit: Sound") && page.contains("<p>Nothing is wrong.</p>"))
    }

    @Test func `leads to no rebuild of a log that is damaged`() {
        func hints(_ faults: [AuditFault]) -> [String] {
            AuditAnswer(faults: faults).textLines.filter { $0.hasPrefix("hint: ") }
        }
        let view = AuditFault(.view, nil, "other than the log")
        for kind in [AuditFault.Kind.record, .order, .tree] {
            let damaged = hints([view, AuditFault(kind, 2, "damaged")])
            #expect(damaged == ["hint: " + kind.hint], "\(kind)")
        }
        // The control: views of a sound log, and of one that lost what a salvage told.
        #expect(hints([view]) == ["hint: " + view.kind.hint])
        let known = hints([view, AuditFault(.record, 2, "lost", isKnown: true)])
        #expect(known.contains("hint: " + view.kind.hint))
    }

    @Test func `names each fault, then what to do, then the sum`() {
        let lines = Self.damaged.textLines
        #expect(lines.count == 3)
        #expect(lines.first == "record 2: <b>\"it's\" & more</b>")
        #expect(lines[1].hasPrefix("hint: "))
        #expect(lines.last == "DAMAGED: 3 records, root unknown, 0 checkpoints, 1 faults")
    }
}
