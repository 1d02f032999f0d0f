package import Entitlements
package import LedgerAPI

/// What an audit found, as one page to print: no scripts, nothing from elsewhere.
package enum AuditPage {
    /// The page of an audit that was made at an instant.
    package static func html(_ report: AuditAnswer, at instant: Instant) -> String {
        let verdict = report.isOK ? "Sound" : "Damaged"
        let facts = [
            ("Audited", instant.description), ("Records", "\(report.records)"),
            ("Tree size", "\(report.treeSize)"), ("Root hash", report.rootHash ?? "unknown"),
            ("Checkpoints", "\(report.checkpoints)"), ("Orphan streams", "\(report.orphans)"),
            ("Faults", "\(report.faults.count)"),
        ]
        let rows = facts.map { "<tr><th>\($0.0)</th><td>\(escaped($0.1))</td></tr>" }
        return """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><title>Ledger audit: \(verdict)</title>
            <style>
            body{font:14px/1.5 system-ui,sans-serif;color:#1c1c1e;background:#fff;\
            max-width:52em;margin:2em auto;padding:0 1em}
            h1{font-weight:600}table{border-collapse:collapse;width:100%;margin:1em 0}
            th,td{text-align:left;vertical-align:top;padding:.35em .6em;\
            border-bottom:1px solid #d8d8dc;overflow-wrap:anywhere}
            thead th{border-bottom:2px solid #1c1c1e}
            </style></head><body>
            <h1>Ledger audit: \(verdict)</h1>
            <table>\(rows.joined())</table>
            \(faults(report))
            </body></html>

            """
    }

    private static func faults(_ report: AuditAnswer) -> String {
        guard !report.isOK else { return "<p>Nothing is wrong.</p>" }
        let rows = report.faults.map { fault in
            "<tr><td>\(fault.kind.rawValue)</td><td>\(fault.sequence.map(String.init) ?? "")</td>"
                + "<td>\(escaped(fault.detail))</td><td>\(escaped(fault.kind.hint))</td></tr>"
        }
        return "<table><thead><tr><th>Kind</th><th>Record</th><th>What</th><th>What to do</th></tr>"
            + "</thead><tbody>\(rows.joined())</tbody></table>"
    }

    /// Text between tags: unlike `XMLText` it leaves apostrophes as they are.
    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}
